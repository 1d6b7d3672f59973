// SPDX-License-Identifier: MIT
// The C++ interface of rotary, header-only over rotary.h.
#pragma once
#include "ops/rotary/rotary.h"
#include "ops/tk_base.hpp"

namespace tk {

struct rotary_options {
  tensor_view k{};          // as q, with heads of its own; absent: q alone
  output_view k_out{};      // where k is; may be k
  tensor_view positions{};  // the row of cos and sin of each token, [b, n], or [n]
  tensor_view offsets{};    // that of each sequence's first token, [b], or [1]
  bool interleaved = false;
  bool inverse = false;
  void* workspace = nullptr;  // rotary_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_rotary_problem problem(tensor_view const& q, tensor_view const& cos,
                                 tensor_view const& sin, output_view const& q_out,
                                 rotary_options const& o) {
  return {.size = sizeof(tk_rotary_problem),
          .q = q.get(),
          .k = o.k.get(),
          .cos = cos.get(),
          .sin = sin.get(),
          .positions = o.positions.get(),
          .offsets = o.offsets.get(),
          .q_out = q_out.get(),
          .k_out = o.k_out.get(),
          .interleaved = o.interleaved,
          .inverse = o.inverse,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// Rotates pairs of columns of q, and of k, by the angles of their tokens: q and q_out [b, n, h, d]
// or [n, h, d] of one type (bf16, fp16, fp32), cos and sin [m, w] of that type or fp32, 2 w <= d,
// the last dimensions contiguous. q_out may be q itself. See rotary.h for the formulas. Throws
// tk::error before anything is launched or written.
inline void rotary(tensor_view const& q, tensor_view const& cos, tensor_view const& sin,
                   output_view const& q_out, rotary_options const& options = {}) {
  auto const problem = detail::problem(q, cos, sin, q_out, options);
  detail::require(
      tk_rotary(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that rotary() wants as workspace. Data pointers may be null.
inline std::size_t rotary_workspace(tensor_view const& q, tensor_view const& cos,
                                    tensor_view const& sin, output_view const& q_out,
                                    rotary_options const& options = {}) {
  auto const problem = detail::problem(q, cos, sin, q_out, options);
  return detail::workspace(TK_OP_ROTARY, &problem);
}

// Why rotary() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> rotary_refusal(tensor_view const& q, tensor_view const& cos,
                                           tensor_view const& sin, output_view const& q_out,
                                           rotary_options const& options = {}) {
  auto const problem = detail::problem(q, cos, sin, q_out, options);
  return detail::refusal(tk_supports(TK_OP_ROTARY, &problem));
}

}  // namespace tk
