// SPDX-License-Identifier: MIT
// From a checked problem of the backward to its launches.
#include "ops/fft_conv/plan.hpp"

namespace tk {

std::size_t workspace_bytes(fft_conv_backward_problem const& x) {
  return fft_conv_plan(x, x.wants_dk).workspace_bytes();
}

// With g = dy o post and x = u o pre, and r the correlation of g and k:
//   du = r o pre, dpre = r o u, dpost = dy o (x * k), dk = the correlation of g and x.
void launch(fft_conv_backward_problem const& x, void* workspace, void* stream) {
  fft_conv_plan const plan(x, x.wants_dk);
  bool const of_inputs = x.du.data || x.dpre.data;
  if (of_inputs || x.dpost.data) plan.transform_filters(workspace, stream);
  if (of_inputs)
    plan.convolve(window_kind::after, x.dy, x.post, {x.du, x.pre}, {x.dpre, x.u}, workspace,
                  stream);
  if (x.dpost.data)
    plan.convolve(window_kind::before, x.u, x.pre, {x.dpost, x.dy}, {}, workspace, stream);
  if (x.wants_dk) plan.correlate(x.dk, x.dy, x.post, x.u, x.pre, workspace, stream);
}

}  // namespace tk
