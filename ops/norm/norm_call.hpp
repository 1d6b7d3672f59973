// SPDX-License-Identifier: MIT
// The C++ interface of norm, header-only over norm.h.
#pragma once
#include "ops/norm/norm.h"
#include "ops/tk_base.hpp"

namespace tk {

struct norm_options {
  tensor_view residual{};  // r = residual + x
  tensor_view weight{};    // [width], 1 where absent
  tensor_view bias{};      // [width], 0 where absent
  output_view r{};         // not written where absent
  tk_norm_kind kind = TK_NORM_LAYER;
  float eps = 1e-5f;
  void* workspace = nullptr;  // norm_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
  float dropout = 0;  // of x, before residual is added
  std::uint64_t seed = 0, offset = 0;
  tensor_view random_state{};                 // in place of seed and offset
  tensor_view y_scale{};                      // fp32, where y is fp8
  tk_scale_kind y_scale_kind = TK_SCALE_ROW;  // written, of x's rows; or TK_SCALE_GIVEN: read, [1]
  bool power_of_two = false;                  // scales, rounded up
};

namespace detail {

inline tk_norm_problem problem(tensor_view const& x, output_view const& y, norm_options const& o) {
  return {.size = sizeof(tk_norm_problem),
          .x = x.get(),
          .residual = o.residual.get(),
          .weight = o.weight.get(),
          .bias = o.bias.get(),
          .y = y.get(),
          .r = o.r.get(),
          .kind = o.kind,
          .eps = o.eps,
          .repeat = o.repeat,
          .reserved = 0,
          .dropout = o.dropout,
          .reserved2 = 0,
          .seed = o.seed,
          .offset = o.offset,
          .random_state = o.random_state.get(),
          .y_scale = o.y_scale.get(),
          .y_scale_kind = o.y_scale_kind,
          .power_of_two = o.power_of_two};
}

}  // namespace detail

// r = residual + x, or residual + mask o x / (1 - dropout), and y = r normalised row by row, times
// weight, plus bias; x, residual, y and r [width] to [b, h, rows, width], the same sizes, x and y
// of one type (bf16, fp16, fp32), residual and r of that or both fp32, weight and bias [width] of
// x's type or fp32; the last dimension contiguous. Statistics, and y, from the fp32 sum r. y and r
// may be x or residual themselves. y may be fp8 beside x of 16 bits, then by a scale for each row
// or by one that is given. Throws tk::error before anything is launched or written.
inline void norm(tensor_view const& x, output_view const& y, norm_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  detail::require(
      tk_norm(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that norm() wants as workspace. Data pointers may be null.
inline std::size_t norm_workspace(tensor_view const& x, output_view const& y,
                                  norm_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  return detail::workspace(TK_OP_NORM, &problem);
}

// Why norm() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> norm_refusal(tensor_view const& x, output_view const& y,
                                         norm_options const& options = {}) {
  auto const problem = detail::problem(x, y, options);
  return detail::refusal(tk_supports(TK_OP_NORM, &problem));
}

}  // namespace tk
