// SPDX-License-Identifier: MIT
// The C++ interface of add, header-only over add.h: add(), and scale() and cast(), which lack b.
#pragma once
#include "ops/add/add.h"
#include "ops/tk_base.hpp"

namespace tk {

struct add_options {
  float alpha = 1, beta = 1;
  void* workspace = nullptr;  // add_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};
struct scale_options {
  void* workspace = nullptr;  // scale_workspace() bytes, or cast_workspace(): they are the same
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_add_problem problem(tensor_view const& a, tensor_view const& b, output_view const& y,
                              add_options const& o) {
  return {.size = sizeof(tk_add_problem),
          .a = a.get(),
          .b = b.get(),
          .y = y.get(),
          .alpha = o.alpha,
          .beta = o.beta,
          .repeat = o.repeat,
          .reserved = 0};
}
inline add_options scaled_by(float factor, scale_options const& o) {
  return {.alpha = factor,
          .beta = 0,
          .workspace = o.workspace,
          .workspace_bytes = o.workspace_bytes,
          .repeat = o.repeat,
          .stream = o.stream};
}

}  // namespace detail

// y = alpha a + beta b, element by element, in fp32, rounded to y's type; a, b and y [width] to
// [b, h, rows, width], each size of b but the last a's or 1; a bf16, fp16 or fp32, y any of these,
// b of y's type; the last dimension contiguous. y may be a, where it has a's type, or b. Throws
// tk::error before anything is launched or written.
inline void add(tensor_view const& a, tensor_view const& b, output_view const& y,
                add_options const& options = {}) {
  auto const problem = detail::problem(a, b, y, options);
  detail::require(
      tk_add(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}
// y = factor a, in place of a where y has its type.
inline void scale(tensor_view const& a, output_view const& y, float factor,
                  scale_options const& options = {}) {
  add(a, {}, y, detail::scaled_by(factor, options));
}
// y = a in y's type, rounded to nearest even where that is narrower.
inline void cast(tensor_view const& a, output_view const& y, scale_options const& options = {}) {
  scale(a, y, 1, options);
}

// Bytes of device memory that they want as workspace. Data pointers may be null.
inline std::size_t add_workspace(tensor_view const& a, tensor_view const& b, output_view const& y,
                                 add_options const& options = {}) {
  auto const problem = detail::problem(a, b, y, options);
  return detail::workspace(TK_OP_ADD, &problem);
}
inline std::size_t scale_workspace(tensor_view const& a, output_view const& y, float factor,
                                   scale_options const& options = {}) {
  return add_workspace(a, {}, y, detail::scaled_by(factor, options));
}
inline std::size_t cast_workspace(tensor_view const& a, output_view const& y,
                                  scale_options const& options = {}) {
  return scale_workspace(a, y, 1, options);
}

// Why they would refuse; nothing if they would not. Data pointers may be null.
inline std::optional<error> add_refusal(tensor_view const& a, tensor_view const& b,
                                        output_view const& y, add_options const& options = {}) {
  auto const problem = detail::problem(a, b, y, options);
  return detail::refusal(tk_supports(TK_OP_ADD, &problem));
}
inline std::optional<error> scale_refusal(tensor_view const& a, output_view const& y, float factor,
                                          scale_options const& options = {}) {
  return add_refusal(a, {}, y, detail::scaled_by(factor, options));
}
inline std::optional<error> cast_refusal(tensor_view const& a, output_view const& y,
                                         scale_options const& options = {}) {
  return scale_refusal(a, y, 1, options);
}

}  // namespace tk
