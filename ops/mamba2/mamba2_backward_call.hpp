// SPDX-License-Identifier: MIT
// The C++ interface of mamba2_backward, header-only over mamba2_backward.h.
#pragma once
#include "ops/mamba2/mamba2_backward.h"
#include "ops/mamba2/mamba2_call.hpp"

namespace tk {

struct mamba2_backward_inputs {
  tensor_view x, dt, A, B, C, dy;
  tensor_view D{}, z{}, dt_bias{};  // may be absent
};
struct mamba2_backward_outputs {
  output_view dx, ddt, dA, dB, dC;
  output_view dD{}, dz{}, ddt_bias{}, dinitial_state{};  // not written where absent
};
struct mamba2_backward_options {
  tensor_view initial_state{}, dfinal_state{};  // fp32 [b, h, p, s]; 0 where absent
  tensor_view starts{};                         // int32 [b + 1], of packed sequences
  bool dt_softplus = false;                     // these as in the forward
  float dt_min = 0, dt_max = std::numeric_limits<float>::infinity();
  void* workspace = nullptr;  // mamba2_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_mamba2_backward_problem problem(mamba2_backward_inputs const& in,
                                          mamba2_backward_outputs const& out,
                                          mamba2_backward_options const& o) {
  return {.size = sizeof(tk_mamba2_backward_problem),
          .x = in.x.get(),
          .dt = in.dt.get(),
          .A = in.A.get(),
          .B = in.B.get(),
          .C = in.C.get(),
          .D = in.D.get(),
          .z = in.z.get(),
          .dt_bias = in.dt_bias.get(),
          .dy = in.dy.get(),
          .dx = out.dx.get(),
          .ddt = out.ddt.get(),
          .dA = out.dA.get(),
          .dB = out.dB.get(),
          .dC = out.dC.get(),
          .dD = out.dD.get(),
          .dz = out.dz.get(),
          .ddt_bias = out.ddt_bias.get(),
          .initial_state = o.initial_state.get(),
          .dfinal_state = o.dfinal_state.get(),
          .dinitial_state = out.dinitial_state.get(),
          .starts = o.starts.get(),
          .dt_min = o.dt_min,
          .dt_max = o.dt_max,
          .dt_softplus = o.dt_softplus,
          .reserved2 = 0,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// The gradients of mamba2() from what it was given and dy, with the same options. Each is shaped
// like what it is of, dy as y. The same bit for bit from run to run. Throws tk::error before
// anything is launched or written.
inline void mamba2_backward(mamba2_backward_inputs const& in, mamba2_backward_outputs const& out,
                            mamba2_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  detail::require(tk_mamba2_backward(&problem, options.workspace, options.workspace_bytes,
                                     options.stream.handle()));
}

// Bytes of device memory that mamba2_backward() wants as workspace. Data pointers may be null.
inline std::size_t mamba2_backward_workspace(mamba2_backward_inputs const& in,
                                             mamba2_backward_outputs const& out,
                                             mamba2_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  return detail::workspace(TK_OP_MAMBA2_BACKWARD, &problem);
}

// Why mamba2_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> mamba2_backward_refusal(mamba2_backward_inputs const& in,
                                                    mamba2_backward_outputs const& out,
                                                    mamba2_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, options);
  return detail::refusal(tk_supports(TK_OP_MAMBA2_BACKWARD, &problem));
}

}  // namespace tk
