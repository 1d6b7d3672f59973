// SPDX-License-Identifier: MIT
// The C++ interface of topk and argmax, header-only over topk.h.
#pragma once
#include "ops/tk_base.hpp"
#include "ops/topk/topk.h"

namespace tk {

struct topk_options {
  bool smallest = false;      // the smallest numbers, the smallest first; argmin
  void* workspace = nullptr;  // topk_workspace() bytes, which are none now
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_topk_problem problem(tensor_view const& x, output_view const& values,
                               output_view const& indices, topk_options const& o) {
  return {.size = sizeof(tk_topk_problem),
          .x = x.get(),
          .values = values.get(),
          .indices = indices.get(),
          .smallest = o.smallest,
          .reserved2 = 0,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// The k largest numbers of each row of x, the largest first, and their columns, of which the lowest
// comes first where values are equal; NaN counts as the largest. x [width] to [b, h, rows, width],
// bf16, fp16 or fp32; values [..., k] of its type, indices [..., k] int32 or int64, one of which
// may be absent; k up to the width and 1024; the last dimension contiguous. Throws tk::error before
// anything is launched or written.
inline void topk(tensor_view const& x, output_view const& values, output_view const& indices,
                 topk_options const& options = {}) {
  auto const problem = detail::problem(x, values, indices, options);
  detail::require(
      tk_topk(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// The column of the largest number of each row: topk of indices [..., 1] alone.
inline void argmax(tensor_view const& x, output_view const& indices,
                   topk_options const& options = {}) {
  topk(x, {}, indices, options);
}

// Bytes of device memory that topk() wants as workspace. Data pointers may be null.
inline std::size_t topk_workspace(tensor_view const& x, output_view const& values,
                                  output_view const& indices, topk_options const& options = {}) {
  auto const problem = detail::problem(x, values, indices, options);
  return detail::workspace(TK_OP_TOPK, &problem);
}

// Why topk() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> topk_refusal(tensor_view const& x, output_view const& values,
                                         output_view const& indices,
                                         topk_options const& options = {}) {
  auto const problem = detail::problem(x, values, indices, options);
  return detail::refusal(tk_supports(TK_OP_TOPK, &problem));
}

}  // namespace tk
