// SPDX-License-Identifier: MIT
// The C++ interface of transpose, header-only over transpose.h.
#pragma once
#include "ops/tk_base.hpp"
#include "ops/transpose/transpose.h"

namespace tk {

struct transpose_options {
  void* workspace = nullptr;  // transpose_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_transpose_problem problem(tensor_view const& x, output_view const& y,
                                    transpose_options const& o) {
  return {.size = sizeof(tk_transpose_problem),
          .x = x.get(),
          .y = y.get(),
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// y[..., j, i] = x[..., i, j], bit for bit; x [n, m] to [b, h, n, m], y [m, n] to [b, h, m, n] of
// the same type (bf16, fp16, fp32, fp8, int32); the last dimension contiguous. y is apart from x.
// Throws tk::error before anything is launched or written.
inline void transpose(tensor_view const& x, output_view const& y,
                      transpose_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  detail::require(
      tk_transpose(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that transpose() wants as workspace. Data pointers may be null.
inline std::size_t transpose_workspace(tensor_view const& x, output_view const& y,
                                       transpose_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  return detail::workspace(TK_OP_TRANSPOSE, &problem);
}

// Why transpose() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> transpose_refusal(tensor_view const& x, output_view const& y,
                                              transpose_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  return detail::refusal(tk_supports(TK_OP_TRANSPOSE, &problem));
}

}  // namespace tk
