// SPDX-License-Identifier: MIT
// The C++ interface of based_backward, header-only over based_backward.h.
#pragma once
#include "ops/based/based_backward.h"
#include "ops/based/based_call.hpp"

namespace tk {

struct based_backward_inputs {
  tensor_view q, k, v, dout;
};
struct based_backward_outputs {
  output_view dq, dk, dv;
  output_view dinitial_state{}, dinitial_sums{};  // not written where absent
};
struct based_backward_options {
  tensor_view initial_state{}, initial_sums{};  // as in the forward
  tensor_view dfinal_state{}, dfinal_sums{};    // 0 where absent
  tensor_view starts{};
  float scale = 0.25f;
  bool normalise = false;
  void* workspace = nullptr;  // based_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_based_backward_problem problem(based_backward_inputs const& in,
                                         based_backward_outputs const& out,
                                         based_backward_options const& x) {
  return {.size = sizeof(tk_based_backward_problem),
          .q = in.q.get(),
          .k = in.k.get(),
          .v = in.v.get(),
          .dout = in.dout.get(),
          .dq = out.dq.get(),
          .dk = out.dk.get(),
          .dv = out.dv.get(),
          .initial_state = x.initial_state.get(),
          .dfinal_state = x.dfinal_state.get(),
          .dinitial_state = out.dinitial_state.get(),
          .initial_sums = x.initial_sums.get(),
          .dfinal_sums = x.dfinal_sums.get(),
          .dinitial_sums = out.dinitial_sums.get(),
          .starts = x.starts.get(),
          .scale = x.scale,
          .normalise = x.normalise ? 1 : 0,
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// dq, dk, dv, and dinitial_state and dinitial_sums where wanted: the gradients of based() from what
// it was given and dout, with the same options. Each is shaped like what it is of, dout as v. The
// same bit for bit from run to run. Throws tk::error before anything is launched or written.
inline void based_backward(based_backward_inputs const& in, based_backward_outputs const& out,
                           based_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  detail::require(tk_based_backward(&problem, options.workspace, options.workspace_bytes,
                                    options.stream.handle()));
}

// Bytes of device memory that based_backward() wants as workspace. Data pointers may be null.
inline std::size_t based_backward_workspace(based_backward_inputs const& in,
                                            based_backward_outputs const& out,
                                            based_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  return detail::workspace(TK_OP_BASED_BACKWARD, &problem);
}

// Why based_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> based_backward_refusal(based_backward_inputs const& in,
                                                   based_backward_outputs const& out,
                                                   based_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  return detail::refusal(tk_supports(TK_OP_BASED_BACKWARD, &problem));
}

}  // namespace tk
