// SPDX-License-Identifier: MIT
// The C++ interface of attention_forward, header-only over attention_forward.h.
#pragma once
#include <cmath>

#include "ops/attention/attention_forward.h"
#include "ops/tk_base.hpp"

namespace tk {

struct attention_forward_options {
  output_view lse{};  // [b, hq, nq] fp32, natural logarithm; not written where absent
  tk_mask mask = TK_MASK_NONE;
  std::optional<float> scale{};  // 1 / sqrt(d) where absent
  void* workspace = nullptr;     // attention_forward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline float usual_scale(DLTensor const* q) {
  bool const known = q && q->shape && q->ndim > 0 && q->shape[q->ndim - 1] > 0;
  return known ? 1 / std::sqrt(static_cast<float>(q->shape[q->ndim - 1])) : 1;
}

inline tk_attention_forward_problem problem(tensor_view const& q, tensor_view const& k,
                                            tensor_view const& v, output_view const& o,
                                            attention_forward_options const& x) {
  return {.size = sizeof(tk_attention_forward_problem),
          .q = q.get(),
          .k = k.get(),
          .v = v.get(),
          .o = o.get(),
          .lse = x.lse.get(),
          .mask = x.mask,
          .scale = x.scale ? *x.scale : usual_scale(q.get()),
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// o = softmax(scale q k^T + mask) v, and lse where given; q [b, nq, hq, d], k [b, nk, hk, d],
// v [b, nk, hk, dv], o [b, nq, hq, dv]; hq a multiple of hk, d and dv multiples of 8 up to 256; the
// last dimension contiguous, other strides free. A row that sees no key gives o = 0, lse = -inf.
// The same bit for bit from run to run. Throws tk::error before anything is launched or written.
inline void attention_forward(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                              output_view const& o, attention_forward_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  detail::require(tk_attention_forward(&problem, options.workspace, options.workspace_bytes,
                                       options.stream.handle()));
}

// Bytes of device memory that attention_forward() wants as workspace. Data pointers may be null.
inline std::size_t attention_forward_workspace(tensor_view const& q, tensor_view const& k,
                                               tensor_view const& v, output_view const& o,
                                               attention_forward_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  return detail::workspace(TK_OP_ATTENTION_FORWARD, &problem);
}

// Why attention_forward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> attention_forward_refusal(
    tensor_view const& q, tensor_view const& k, tensor_view const& v, output_view const& o,
    attention_forward_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, options);
  return detail::refusal(tk_supports(TK_OP_ATTENTION_FORWARD, &problem));
}

}  // namespace tk
