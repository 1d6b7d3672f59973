// SPDX-License-Identifier: MIT
// The C++ interface of linear_attention_backward, header-only over linear_attention_backward.h.
#pragma once
#include "ops/linear_attention/linear_attention_backward.h"
#include "ops/linear_attention/linear_attention_call.hpp"

namespace tk {

struct linear_attention_backward_inputs {
  tensor_view q, k, v, dout;
};
struct linear_attention_backward_outputs {
  output_view dq, dk, dv;
  output_view dinitial_state{};  // not written where absent
  output_view dlog_decay{}, ddecay{};
};
struct linear_attention_backward_options {
  tensor_view log_decay{}, decay{}, initial_state{};  // as in the forward
  tensor_view dfinal_state{};                         // 0 where absent
  tensor_view starts{};
  std::optional<float> scale{};  // 1 / sqrt(d) where absent
  void* workspace = nullptr;     // linear_attention_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_linear_attention_backward_problem problem(linear_attention_backward_inputs const& in,
                                                    linear_attention_backward_outputs const& out,
                                                    linear_attention_backward_options const& x) {
  return {.size = sizeof(tk_linear_attention_backward_problem),
          .q = in.q.get(),
          .k = in.k.get(),
          .v = in.v.get(),
          .dout = in.dout.get(),
          .dq = out.dq.get(),
          .dk = out.dk.get(),
          .dv = out.dv.get(),
          .log_decay = x.log_decay.get(),
          .decay = x.decay.get(),
          .initial_state = x.initial_state.get(),
          .dfinal_state = x.dfinal_state.get(),
          .dinitial_state = out.dinitial_state.get(),
          .dlog_decay = out.dlog_decay.get(),
          .ddecay = out.ddecay.get(),
          .starts = x.starts.get(),
          .scale = x.scale ? *x.scale : linear_attention_scale(in.q.get()),
          .reserved2 = 0,
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// dq, dk, dv, dinitial_state and those of decays, the gradients of linear_attention() from what it
// was given and dout, with the same options. Each is shaped like what it is of, dout as v. The same
// bit for bit from run to run. Throws tk::error before anything is launched or written.
inline void linear_attention_backward(linear_attention_backward_inputs const& in,
                                      linear_attention_backward_outputs const& out,
                                      linear_attention_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  detail::require(tk_linear_attention_backward(&problem, options.workspace, options.workspace_bytes,
                                               options.stream.handle()));
}

// Bytes of device memory that linear_attention_backward() wants as workspace. Data pointers may be
// null.
inline std::size_t linear_attention_backward_workspace(
    linear_attention_backward_inputs const& in, linear_attention_backward_outputs const& out,
    linear_attention_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  return detail::workspace(TK_OP_LINEAR_ATTENTION_BACKWARD, &problem);
}

// Why linear_attention_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> linear_attention_backward_refusal(
    linear_attention_backward_inputs const& in, linear_attention_backward_outputs const& out,
    linear_attention_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  return detail::refusal(tk_supports(TK_OP_LINEAR_ATTENTION_BACKWARD, &problem));
}

}  // namespace tk
