// SPDX-License-Identifier: MIT
// The C++ interface of softmax_backward, header-only over softmax_backward.h.
#pragma once
#include "ops/softmax/softmax_backward.h"
#include "ops/tk_base.hpp"

namespace tk {

struct softmax_backward_options {
  output_view dbias{};  // dx before its factor of scale; not written where absent
  tk_mask mask = TK_MASK_NONE;
  float scale = 1;
  void* workspace = nullptr;  // softmax_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_softmax_backward_problem problem(tensor_view const& y, tensor_view const& dy,
                                           output_view const& dx,
                                           softmax_backward_options const& o) {
  return {.size = sizeof(tk_softmax_backward_problem),
          .y = y.get(),
          .dy = dy.get(),
          .dx = dx.get(),
          .dbias = o.dbias.get(),
          .mask = o.mask,
          .scale = o.scale,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// dx = scale y (dy - sum of y dy), the gradient of y = softmax(scale x + bias), with the forward's
// scale and mask; y, dy, dx and dbias [width] to [b, h, rows, width], the same sizes, of one type
// (bf16, fp16, fp32); the last dimension contiguous. Sums are fp32. What a row does not see has
// gradient 0. dx and dbias may be y or dy themselves. Throws tk::error before anything is launched
// or written.
inline void softmax_backward(tensor_view const& y, tensor_view const& dy, output_view const& dx,
                             softmax_backward_options const& options = {}) {
  auto const problem = detail::problem(y, dy, dx, options);
  detail::require(tk_softmax_backward(&problem, options.workspace, options.workspace_bytes,
                                      options.stream.handle()));
}

// Bytes of device memory that softmax_backward() wants as workspace. Data pointers may be null.
inline std::size_t softmax_backward_workspace(tensor_view const& y, tensor_view const& dy,
                                              output_view const& dx,
                                              softmax_backward_options const& options = {}) {
  auto const problem = detail::problem(y, dy, dx, options);
  return detail::workspace(TK_OP_SOFTMAX_BACKWARD, &problem);
}

// Why softmax_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> softmax_backward_refusal(tensor_view const& y, tensor_view const& dy,
                                                     output_view const& dx,
                                                     softmax_backward_options const& options = {}) {
  auto const problem = detail::problem(y, dy, dx, options);
  return detail::refusal(tk_supports(TK_OP_SOFTMAX_BACKWARD, &problem));
}

}  // namespace tk
