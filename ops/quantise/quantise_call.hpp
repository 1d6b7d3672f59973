// SPDX-License-Identifier: MIT
// The C++ interface of quantise, header-only over quantise.h.
#pragma once
#include "ops/quantise/quantise.h"
#include "ops/tk_base.hpp"

namespace tk {

struct quantise_options {
  tk_scale_kind kind = TK_SCALE_ROW;
  bool power_of_two = false;  // scales, rounded up
  void* workspace = nullptr;  // quantise_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_quantise_problem problem(tensor_view const& x, output_view const& y,
                                   tensor_view const& scale, quantise_options const& o) {
  return {.size = sizeof(tk_quantise_problem),
          .x = x.get(),
          .y = y.get(),
          .scale = scale.get(),
          .kind = o.kind,
          .power_of_two = o.power_of_two,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// y = x / scale as fp8 (e4m3fn or e5m2), of the same sizes; x [width] to [b, h, rows, width], bf16,
// fp16 or fp32, the last dimension contiguous. scale, fp32, is the largest |x| of each block by the
// largest number of y's type: of a row, of 1 x 128 or 128 x 128 elements, or of the tensor; or it
// is read (TK_SCALE_GIVEN), else written. The same bits on every chip; quantise.h says which.
// Throws tk::error before anything is launched or written.
inline void quantise(tensor_view const& x, output_view const& y, tensor_view const& scale,
                     quantise_options const& options = {}) {
  auto const problem = detail::problem(x, y, scale, options);
  detail::require(
      tk_quantise(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that quantise() wants as workspace. Data pointers may be null.
inline std::size_t quantise_workspace(tensor_view const& x, output_view const& y,
                                      tensor_view const& scale,
                                      quantise_options const& options = {}) {
  auto const problem = detail::problem(x, y, scale, options);
  return detail::workspace(TK_OP_QUANTISE, &problem);
}

// Why quantise() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> quantise_refusal(tensor_view const& x, output_view const& y,
                                             tensor_view const& scale,
                                             quantise_options const& options = {}) {
  auto const problem = detail::problem(x, y, scale, options);
  return detail::refusal(tk_supports(TK_OP_QUANTISE, &problem));
}

}  // namespace tk
