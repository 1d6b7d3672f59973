// SPDX-License-Identifier: MIT
// The C++ interface of attention_backward, header-only over attention_backward.h.
#pragma once
#include "ops/attention/attention_backward.h"
#include "ops/attention/attention_forward_call.hpp"

namespace tk {

// What the forward was given and gave, and the gradient of its o.
struct attention_backward_inputs {
  tensor_view q, k, v, o;
  tensor_view lse;  // [b, hq, nq] fp32
  tensor_view dout;
};
struct attention_backward_outputs {
  output_view dq, dk, dv;
  output_view dbias{}, dsinks{};  // not wanted where absent
};
struct attention_backward_options {
  tk_mask mask = TK_MASK_NONE;
  std::optional<float> scale{};  // 1 / sqrt(d) where absent
  void* workspace = nullptr;     // attention_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
  attention_options more{};  // as in the forward
};

namespace detail {

inline tk_attention_backward_problem problem(attention_backward_inputs const& in,
                                             attention_backward_outputs const& out,
                                             attention_backward_options const& x,
                                             tk_attention_options const& more) {
  return {.size = sizeof(tk_attention_backward_problem),
          .q = in.q.get(),
          .k = in.k.get(),
          .v = in.v.get(),
          .o = in.o.get(),
          .lse = in.lse.get(),
          .dout = in.dout.get(),
          .dq = out.dq.get(),
          .dk = out.dk.get(),
          .dv = out.dv.get(),
          .mask = x.mask,
          .scale = x.scale ? *x.scale : usual_scale(in.q.get()),
          .repeat = x.repeat,
          .reserved = 0,
          .options = &more,
          .dbias = out.dbias.get(),
          .dsinks = out.dsinks.get()};
}

}  // namespace detail

// dq, dk and dv, the gradients of o = softmax(scale q k^T + mask) v, from q, k, v, the o and lse of
// attention_forward(), and dout, with the same options; dbias and dsinks where given. Shapes as
// there: dq is as q, dk as k, dv as v, dout as o, dbias as the bias. All others are required, the
// last dimension contiguous, other strides free. The same bit for bit from run to run. Throws
// tk::error before anything is launched or written.
inline void attention_backward(attention_backward_inputs const& in,
                               attention_backward_outputs const& out,
                               attention_backward_options const& options = {}) {
  auto const more = detail::problem_options(options.more);
  auto const problem = detail::problem(in, out, options, more);
  detail::require(tk_attention_backward(&problem, options.workspace, options.workspace_bytes,
                                        options.stream.handle()));
}

// Bytes of device memory that attention_backward() wants as workspace. Data pointers may be null.
inline std::size_t attention_backward_workspace(attention_backward_inputs const& in,
                                                attention_backward_outputs const& out,
                                                attention_backward_options const& options = {}) {
  auto const more = detail::problem_options(options.more);
  auto const problem = detail::problem(in, out, options, more);
  return detail::workspace(TK_OP_ATTENTION_BACKWARD, &problem);
}

// Why attention_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> attention_backward_refusal(
    attention_backward_inputs const& in, attention_backward_outputs const& out,
    attention_backward_options const& options = {}) {
  auto const more = detail::problem_options(options.more);
  auto const problem = detail::problem(in, out, options, more);
  return detail::refusal(tk_supports(TK_OP_ATTENTION_BACKWARD, &problem));
}

}  // namespace tk
