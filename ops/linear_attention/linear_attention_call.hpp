// SPDX-License-Identifier: MIT
// The C++ interface of linear_attention, header-only over linear_attention.h.
#pragma once
#include <cmath>

#include "ops/linear_attention/linear_attention.h"
#include "ops/tk_base.hpp"

namespace tk {

struct linear_attention_options {
  tensor_view log_decay{};       // fp32 [b, n, h], at most 0
  tensor_view decay{};           // fp32 [h], 0 or more; in place of log_decay
  tensor_view initial_state{};   // fp32 [b, h, d, dv]; 0 where absent
  output_view final_state{};     // not written where absent; may be the initial one
  tensor_view starts{};          // int32 [b + 1], of packed sequences, which lack the dimension b
  std::optional<float> scale{};  // 1 / sqrt(d) where absent
  void* workspace = nullptr;     // linear_attention_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline float linear_attention_scale(DLTensor const* q) {
  bool const known = q && q->shape && q->ndim > 0 && q->shape[q->ndim - 1] > 0;
  return known ? 1 / std::sqrt(static_cast<float>(q->shape[q->ndim - 1])) : 1;
}

inline tk_linear_attention_problem problem(tensor_view const& q, tensor_view const& k,
                                           tensor_view const& v, output_view const& o,
                                           linear_attention_options const& x) {
  return {.size = sizeof(tk_linear_attention_problem),
          .q = q.get(),
          .k = k.get(),
          .v = v.get(),
          .o = o.get(),
          .log_decay = x.log_decay.get(),
          .decay = x.decay.get(),
          .initial_state = x.initial_state.get(),
          .final_state = x.final_state.get(),
          .starts = x.starts.get(),
          .scale = x.scale ? *x.scale : linear_attention_scale(q.get()),
          .reserved2 = 0,
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// S_t = a_t S_(t-1) + k_t^T v_t and o_t = scale q_t S_t, a_t = exp(log_decay_t) or exp(-decay); q,
// k [b, n, h, d], v, o [b, n, h, dv], of one type, bf16 or fp16; d and dv multiples of 16 up to
// 256; the last dimension contiguous, other strides free. The same bit for bit from run to run.
// Throws tk::error before anything is launched or written.
inline void linear_attention(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                             output_view const& o, linear_attention_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  detail::require(tk_linear_attention(&problem, options.workspace, options.workspace_bytes,
                                      options.stream.handle()));
}

// Bytes of device memory that linear_attention() wants as workspace. Data pointers may be null.
inline std::size_t linear_attention_workspace(tensor_view const& q, tensor_view const& k,
                                              tensor_view const& v, output_view const& o,
                                              linear_attention_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  return detail::workspace(TK_OP_LINEAR_ATTENTION, &problem);
}

// Why linear_attention() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> linear_attention_refusal(tensor_view const& q, tensor_view const& k,
                                                     tensor_view const& v, output_view const& o,
                                                     linear_attention_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  return detail::refusal(tk_supports(TK_OP_LINEAR_ATTENTION, &problem));
}

}  // namespace tk
