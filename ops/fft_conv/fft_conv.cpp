// SPDX-License-Identifier: MIT
// From a checked problem to its launches.
#include "ops/fft_conv/plan.hpp"

namespace tk {

std::size_t workspace_bytes(fft_conv_problem const& x) {
  return fft_conv_plan(x, false).workspace_bytes();
}

void launch(fft_conv_problem const& x, void* workspace, void* stream) {
  fft_conv_plan const plan(x, false);
  plan.transform_filters(workspace, stream);
  plan.convolve(window_kind::before, x.u, x.pre, {x.y, x.post}, {}, workspace, stream);
}

}  // namespace tk
