// SPDX-License-Identifier: MIT
// The C++ interface of based, header-only over based.h.
#pragma once
#include "ops/based/based.h"
#include "ops/tk_base.hpp"

namespace tk {

struct based_options {
  tensor_view initial_state{};  // fp32 [b, h, 153, dv]; 0 where absent
  output_view final_state{};    // not written where absent; may be the initial one
  tensor_view initial_sums{};   // fp32 [b, h, 153], where it normalises; 0 where absent
  output_view final_sums{};     // not written where absent; may be the initial ones
  tensor_view starts{};         // int32 [b + 1], of packed sequences, which lack the dimension b
  float scale = 0.25f;
  bool normalise = false;
  void* workspace = nullptr;  // based_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_based_problem problem(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                                output_view const& o, based_options const& x) {
  return {.size = sizeof(tk_based_problem),
          .q = q.get(),
          .k = k.get(),
          .v = v.get(),
          .o = o.get(),
          .initial_state = x.initial_state.get(),
          .final_state = x.final_state.get(),
          .initial_sums = x.initial_sums.get(),
          .final_sums = x.final_sums.get(),
          .starts = x.starts.get(),
          .scale = x.scale,
          .normalise = x.normalise ? 1 : 0,
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// o_i = sum over j <= i of (1 + s + s^2 / 2) v_j, s = scale q_i.k_j, and where it normalises
// divided by 1e-6 + the sum of (1 + s + s^2 / 2); q, k [b, n, h, 16], v, o [b, n, h, dv], of one
// type, bf16 or fp16; dv a multiple of 16 up to 256; the last dimension contiguous, other strides
// free. States are as based.h has them. The same bit for bit from run to run. Throws tk::error
// before anything is launched or written.
inline void based(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                  output_view const& o, based_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  detail::require(
      tk_based(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that based() wants as workspace. Data pointers may be null.
inline std::size_t based_workspace(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                                   output_view const& o, based_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  return detail::workspace(TK_OP_BASED, &problem);
}

// Why based() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> based_refusal(tensor_view const& q, tensor_view const& k,
                                          tensor_view const& v, output_view const& o,
                                          based_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  return detail::refusal(tk_supports(TK_OP_BASED, &problem));
}

}  // namespace tk
