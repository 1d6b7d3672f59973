// SPDX-License-Identifier: MIT
// The C++ interface of softmax, header-only over softmax.h.
#pragma once
#include "ops/softmax/softmax.h"
#include "ops/tk_base.hpp"

namespace tk {

struct softmax_options {
  tensor_view bias{};  // added to scale x; 0 where absent
  tk_mask mask = TK_MASK_NONE;
  float scale = 1;
  void* workspace = nullptr;  // softmax_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
  tensor_view bool_mask{};  // where it is false, an element is not seen; all are where it is absent
};

namespace detail {

inline tk_softmax_problem problem(tensor_view const& x, output_view const& y,
                                  softmax_options const& o) {
  return {.size = sizeof(tk_softmax_problem),
          .x = x.get(),
          .bias = o.bias.get(),
          .y = y.get(),
          .mask = o.mask,
          .scale = o.scale,
          .repeat = o.repeat,
          .reserved = 0,
          .bool_mask = o.bool_mask.get()};
}

}  // namespace detail

// y = softmax(scale x + bias) over the last dimension, of the elements that a row sees; x and y
// [width] to [b, h, rows, width] of one type (bf16, fp16, fp32), bias and bool_mask of x's rank,
// each size but the last x's or 1, bias of that type or fp32, bool_mask bool or uint8; the last
// dimension contiguous. Scores and sums are fp32.
// What a row does not see is 0, and so is a row that sees nothing, or scores of -inf alone. y may
// be x itself. Throws tk::error before anything is launched or written.
inline void softmax(tensor_view const& x, output_view const& y,
                    softmax_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  detail::require(
      tk_softmax(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that softmax() wants as workspace. Data pointers may be null.
inline std::size_t softmax_workspace(tensor_view const& x, output_view const& y,
                                     softmax_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  return detail::workspace(TK_OP_SOFTMAX, &problem);
}

// Why softmax() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> softmax_refusal(tensor_view const& x, output_view const& y,
                                            softmax_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  return detail::refusal(tk_supports(TK_OP_SOFTMAX, &problem));
}

}  // namespace tk
