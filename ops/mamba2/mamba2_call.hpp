// SPDX-License-Identifier: MIT
// The C++ interface of mamba2, header-only over mamba2.h.
#pragma once
#include <limits>

#include "ops/mamba2/mamba2.h"
#include "ops/tk_base.hpp"

namespace tk {

struct mamba2_inputs {
  tensor_view x, dt, A, B, C;
  tensor_view D{}, z{}, dt_bias{};  // may be absent
};
struct mamba2_options {
  tensor_view initial_state{};  // fp32 [b, h, p, s]; 0 where absent
  output_view final_state{};    // not written where absent; may be the initial one
  tensor_view starts{};         // int32 [b + 1], of packed sequences, which lack the dimension b
  bool dt_softplus = false;
  float dt_min = 0, dt_max = std::numeric_limits<float>::infinity();
  void* workspace = nullptr;  // mamba2_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_mamba2_problem problem(mamba2_inputs const& in, output_view const& y,
                                 mamba2_options const& o) {
  return {.size = sizeof(tk_mamba2_problem),
          .x = in.x.get(),
          .dt = in.dt.get(),
          .A = in.A.get(),
          .B = in.B.get(),
          .C = in.C.get(),
          .D = in.D.get(),
          .z = in.z.get(),
          .dt_bias = in.dt_bias.get(),
          .y = y.get(),
          .initial_state = o.initial_state.get(),
          .final_state = o.final_state.get(),
          .starts = o.starts.get(),
          .dt_min = o.dt_min,
          .dt_max = o.dt_max,
          .dt_softplus = o.dt_softplus,
          .reserved2 = 0,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// y of Mamba-2's scan over x [b, n, h, p], dt [b, n, h], A [h], B and C [b, n, g, s], with a skip D
// [h] or [h, p], a gate z as x and dt_bias [h] where given; x, y, z, B, C of one type, bf16 or
// fp16; p and s multiples of 16 up to 256; the last dimension contiguous, other strides free. The
// same bit for bit from run to run. Throws tk::error before anything is launched or written.
inline void mamba2(mamba2_inputs const& in, output_view const& y,
                   mamba2_options const& options = {}) {
  auto const problem = detail::problem(in, y, options);
  detail::require(
      tk_mamba2(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that mamba2() wants as workspace. Data pointers may be null.
inline std::size_t mamba2_workspace(mamba2_inputs const& in, output_view const& y,
                                    mamba2_options const& options = {}) {
  auto const problem = detail::problem(in, y, options);
  return detail::workspace(TK_OP_MAMBA2, &problem);
}

// Why mamba2() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> mamba2_refusal(mamba2_inputs const& in, output_view const& y,
                                           mamba2_options const& options = {}) {
  auto const problem = detail::problem(in, y, options);
  return detail::refusal(tk_supports(TK_OP_MAMBA2, &problem));
}

}  // namespace tk
