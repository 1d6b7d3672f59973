// SPDX-License-Identifier: MIT
// The C++ interface of conv1d, header-only over conv1d.h.
#pragma once
#include "ops/conv1d/conv1d.h"
#include "ops/tk_base.hpp"

namespace tk {

struct conv1d_options {
  tensor_view bias{};                                  // [c], 0 where absent
  tensor_view initial_state{};                         // [b or sequences, w - 1, c], 0 where absent
  output_view final_state{};                           // may be initial_state itself
  tensor_view starts{};                                // int32 [sequences + 1]: packed sequences
  tk_activation_kind activation = TK_ACTIVATION_NONE;  // or TK_ACTIVATION_SILU
  void* workspace = nullptr;                           // conv1d_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_conv1d_problem problem(tensor_view const& x, tensor_view const& weight,
                                 output_view const& y, conv1d_options const& o) {
  return {.size = sizeof(tk_conv1d_problem),
          .x = x.get(),
          .weight = weight.get(),
          .bias = o.bias.get(),
          .y = y.get(),
          .initial_state = o.initial_state.get(),
          .final_state = o.final_state.get(),
          .starts = o.starts.get(),
          .activation = o.activation,
          .reserved_activation = 0,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// y[b, t, c] = act(bias[c] + sum over i < w of weight[c, i] x[b, t - (w - 1) + i, c]); x and y
// [b, n, c] or [n, c] of one type (bf16, fp16, fp32), weight [c, w], w 2 to 4, and bias [c] of that
// type or fp32; the last dimension contiguous. A step of decoding has n = 1 and initial_state as
// final_state. Throws tk::error before anything is launched or written.
inline void conv1d(tensor_view const& x, tensor_view const& weight, output_view const& y,
                   conv1d_options const& options = {}) {
  auto const problem = detail::problem(x, weight, y, options);
  detail::require(
      tk_conv1d(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that conv1d() wants as workspace. Data pointers may be null.
inline std::size_t conv1d_workspace(tensor_view const& x, tensor_view const& weight,
                                    output_view const& y, conv1d_options const& options = {}) {
  auto const problem = detail::problem(x, weight, y, options);
  return detail::workspace(TK_OP_CONV1D, &problem);
}

// Why conv1d() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> conv1d_refusal(tensor_view const& x, tensor_view const& weight,
                                           output_view const& y,
                                           conv1d_options const& options = {}) {
  auto const problem = detail::problem(x, weight, y, options);
  return detail::refusal(tk_supports(TK_OP_CONV1D, &problem));
}

}  // namespace tk
