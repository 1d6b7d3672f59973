// SPDX-License-Identifier: MIT
// From a checked problem of the backward to its launches.
#include "ops/fft_conv/plan.hpp"

namespace tk {
namespace {

struct laid_out : fft_conv_plan {
  explicit laid_out(fft_conv_backward_problem const& x) : fft_conv_plan(x) {
    lay_out_filters(workspace);
    lay_out_windows(workspace, x.wants_dk ? 2 : 1);
  }
  workspace_layout workspace;
};

}  // namespace

std::size_t workspace_bytes(fft_conv_backward_problem const& x) {
  return laid_out(x).workspace.bytes();
}

// With g = dy o post and x = u o pre, and r the correlation of g and k:
//   du = r o pre, dpre = r o u, dpost = dy o (x * k), dk = the correlation of g and x.
void launch(fft_conv_backward_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  bool const of_inputs = x.du.data || x.dpre.data;
  if (of_inputs || x.dpost.data) plan.transform_filters(workspace, stream);
  for (std::int64_t i = 0; i < plan.groups(); ++i) {
    auto const g = plan.at(i);
    if (of_inputs || x.wants_dk)
      plan.transform(g, x.dy, x.post, window_kind::after, 0, workspace, stream);
    if (of_inputs) {
      auto products = plan.with_filters(g, window_kind::after, 0, workspace);
      products.out[0] = x.du;
      products.gate[0] = x.pre;
      products.out[1] = x.dpre;
      products.gate[1] = x.u;
      plan.sum(products, stream);
    }
    if (x.wants_dk) {
      plan.transform(g, x.u, x.pre, window_kind::alone, 1, workspace, stream);
      plan.sum(plan.gradient(g, x.dk, 0, 1, workspace), stream);
    }
    if (x.dpost.data) {
      plan.transform(g, x.u, x.pre, window_kind::before, 0, workspace, stream);
      auto products = plan.with_filters(g, window_kind::before, 0, workspace);
      products.out[0] = x.dpost;
      products.gate[0] = x.dy;
      plan.sum(products, stream);
    }
  }
}

}  // namespace tk
