// SPDX-License-Identifier: MIT
// The C++ interface of attention_forward, header-only over attention_forward.h.
#pragma once
#include <cmath>

#include "ops/attention/attention_forward.h"
#include "ops/tk_base.hpp"

namespace tk {

// Of attention_options.h; what is absent is off.
struct attention_options {
  std::optional<int> window_left{}, window_right{};
  float softcap = 0, dropout = 0;
  tensor_view alibi{}, bias{}, sinks{};
  tensor_view q_starts{}, k_starts{};  // of packed sequences, which lack the dimension b
  std::int64_t max_nq = 0, max_nk = 0;
  std::uint64_t seed = 0, offset = 0;
  tensor_view random_state{};  // in place of seed and offset
};

struct attention_forward_options {
  output_view lse{};  // [b, hq, nq] fp32, natural logarithm; not written where absent
  tk_mask mask = TK_MASK_NONE;
  std::optional<float> scale{};  // 1 / sqrt(d) where absent
  void* workspace = nullptr;     // attention_forward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
  attention_options more{};
};

namespace detail {

inline float usual_scale(DLTensor const* q) {
  bool const known = q && q->shape && q->ndim > 0 && q->shape[q->ndim - 1] > 0;
  return known ? 1 / std::sqrt(static_cast<float>(q->shape[q->ndim - 1])) : 1;
}

inline tk_attention_options problem_options(attention_options const& x) {
  return {.size = sizeof(tk_attention_options),
          .has_window_left = x.window_left.has_value(),
          .window_left = x.window_left.value_or(0),
          .has_window_right = x.window_right.has_value(),
          .window_right = x.window_right.value_or(0),
          .softcap = x.softcap,
          .dropout = x.dropout,
          .alibi = x.alibi.get(),
          .bias = x.bias.get(),
          .sinks = x.sinks.get(),
          .q_starts = x.q_starts.get(),
          .k_starts = x.k_starts.get(),
          .max_nq = x.max_nq,
          .max_nk = x.max_nk,
          .seed = x.seed,
          .offset = x.offset,
          .random_state = x.random_state.get()};
}

inline tk_attention_forward_problem problem(tensor_view const& q, tensor_view const& k,
                                            tensor_view const& v, output_view const& o,
                                            attention_forward_options const& x,
                                            tk_attention_options const& more) {
  return {.size = sizeof(tk_attention_forward_problem),
          .q = q.get(),
          .k = k.get(),
          .v = v.get(),
          .o = o.get(),
          .lse = x.lse.get(),
          .mask = x.mask,
          .scale = x.scale ? *x.scale : usual_scale(q.get()),
          .repeat = x.repeat,
          .reserved = 0,
          .options = &more};
}

}  // namespace detail

// o = softmax(scale q k^T + mask) v, and lse where given; q [b, nq, hq, d], k [b, nk, hk, d],
// v [b, nk, hk, dv], o [b, nq, hq, dv]; hq a multiple of hk, d and dv multiples of 8 up to 256; the
// last dimension contiguous, other strides free. A row that sees no key gives o = 0, lse = -inf.
// The same bit for bit from run to run. Throws tk::error before anything is launched or written.
inline void attention_forward(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                              output_view const& o, attention_forward_options const& options = {}) {
  auto const more = detail::problem_options(options.more);
  auto const problem = detail::problem(q, k, v, o, options, more);
  detail::require(tk_attention_forward(&problem, options.workspace, options.workspace_bytes,
                                       options.stream.handle()));
}

// Bytes of device memory that attention_forward() wants as workspace. Data pointers may be null.
inline std::size_t attention_forward_workspace(tensor_view const& q, tensor_view const& k,
                                               tensor_view const& v, output_view const& o,
                                               attention_forward_options const& options = {}) {
  auto const more = detail::problem_options(options.more);
  auto const problem = detail::problem(q, k, v, o, options, more);
  return detail::workspace(TK_OP_ATTENTION_FORWARD, &problem);
}

// Why attention_forward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> attention_forward_refusal(
    tensor_view const& q, tensor_view const& k, tensor_view const& v, output_view const& o,
    attention_forward_options const& options = {}) {
  auto const more = detail::problem_options(options.more);
  auto const problem = detail::problem(q, k, v, o, options, more);
  return detail::refusal(tk_supports(TK_OP_ATTENTION_FORWARD, &problem));
}

}  // namespace tk
