// SPDX-License-Identifier: MIT
// From a checked problem to its launches.
#include "ops/fft_conv/plan.hpp"

namespace tk {
namespace {

struct laid_out : fft_conv_plan {
  explicit laid_out(fft_conv_problem const& x) : fft_conv_plan(x) {
    lay_out_filters(workspace);
    lay_out_windows(workspace, 1);
  }
  workspace_layout workspace;
};

}  // namespace

std::size_t workspace_bytes(fft_conv_problem const& x) { return laid_out(x).workspace.bytes(); }

void launch(fft_conv_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  plan.transform_filters(workspace, stream);
  for (std::int64_t i = 0; i < plan.groups(); ++i) {
    auto const g = plan.at(i);
    plan.transform(g, x.u, x.pre, window_kind::before, 0, workspace, stream);
    auto products = plan.with_filters(g, window_kind::before, 0, workspace);
    products.out[0] = x.y;
    products.gate[0] = x.post;
    plan.sum(products, stream);
  }
}

}  // namespace tk
