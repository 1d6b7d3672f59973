// SPDX-License-Identifier: MIT
// The C++ interface of activation, header-only over activation.h.
#pragma once
#include "ops/activation/activation.h"
#include "ops/tk_base.hpp"

namespace tk {

struct activation_options {
  tensor_view b{};            // y = act(a) b; 1 where absent
  void* workspace = nullptr;  // activation_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
  bool interleaved = false;  // a and b take turns in one tensor, given as a, twice as wide as y
};

namespace detail {

inline tk_activation_problem problem(tk_activation_kind kind, tensor_view const& a,
                                     output_view const& y, activation_options const& o) {
  return {.size = sizeof(tk_activation_problem),
          .a = a.get(),
          .b = o.b.get(),
          .y = y.get(),
          .kind = kind,
          .reserved_kind = 0,
          .repeat = o.repeat,
          .reserved = 0,
          .interleaved = o.interleaved,
          .reserved_interleaved = 0};
}

}  // namespace detail

// y = act(a) b, element by element; a, b and y [width] to [b, h, rows, width], the same sizes, of
// one type (bf16, fp16, fp32); the last dimension contiguous. Arithmetic is fp32. Halves packed in
// one tensor are two views of it. y may be a or b itself. Throws tk::error before anything is
// launched or written.
inline void activation(tk_activation_kind kind, tensor_view const& a, output_view const& y,
                       activation_options const& options = {}) {
  auto const problem = detail::problem(kind, a, y, options);
  detail::require(
      tk_activation(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that activation() wants as workspace. Data pointers may be null.
inline std::size_t activation_workspace(tk_activation_kind kind, tensor_view const& a,
                                        output_view const& y,
                                        activation_options const& options = {}) {
  auto const problem = detail::problem(kind, a, y, options);
  return detail::workspace(TK_OP_ACTIVATION, &problem);
}

// Why activation() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> activation_refusal(tk_activation_kind kind, tensor_view const& a,
                                               output_view const& y,
                                               activation_options const& options = {}) {
  auto const problem = detail::problem(kind, a, y, options);
  return detail::refusal(tk_supports(TK_OP_ACTIVATION, &problem));
}

}  // namespace tk
