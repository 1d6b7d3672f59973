// SPDX-License-Identifier: MIT
// The C++ interface of hedgehog_backward, header-only over hedgehog_backward.h.
#pragma once
#include "ops/hedgehog/hedgehog_backward.h"
#include "ops/hedgehog/hedgehog_call.hpp"

namespace tk {

struct hedgehog_backward_inputs {
  tensor_view q, k, v, o, dout, normaliser;
};
struct hedgehog_backward_outputs {
  output_view dq, dk, dv;
  output_view dmap_q{}, dmap_k{}, dalpha{}, dbeta{};  // not written where absent, nor these
  output_view dinitial_kv{}, dinitial_k{};
};
struct hedgehog_backward_options {
  tensor_view initial_kv{}, initial_k{};  // as in the forward
  tensor_view dfinal_kv{}, dfinal_k{};    // 0 where absent
  tensor_view starts{}, key_starts{}, lengths{};
  std::optional<float> scale{};  // 1 / sqrt(128) where absent
  void* workspace = nullptr;     // hedgehog_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_hedgehog_backward_problem problem(hedgehog_backward_inputs const& in,
                                            hedgehog_backward_outputs const& out,
                                            hedgehog_maps const& maps,
                                            hedgehog_backward_options const& x) {
  return {.size = sizeof(tk_hedgehog_backward_problem),
          .q = in.q.get(),
          .k = in.k.get(),
          .v = in.v.get(),
          .o = in.o.get(),
          .dout = in.dout.get(),
          .normaliser = in.normaliser.get(),
          .map_q = maps.q.get(),
          .map_k = maps.k.get(),
          .alpha = maps.alpha.get(),
          .beta = maps.beta.get(),
          .initial_kv = x.initial_kv.get(),
          .initial_k = x.initial_k.get(),
          .dfinal_kv = x.dfinal_kv.get(),
          .dfinal_k = x.dfinal_k.get(),
          .dq = out.dq.get(),
          .dk = out.dk.get(),
          .dv = out.dv.get(),
          .dmap_q = out.dmap_q.get(),
          .dmap_k = out.dmap_k.get(),
          .dalpha = out.dalpha.get(),
          .dbeta = out.dbeta.get(),
          .dinitial_kv = out.dinitial_kv.get(),
          .dinitial_k = out.dinitial_k.get(),
          .starts = x.starts.get(),
          .key_starts = x.key_starts.get(),
          .lengths = x.lengths.get(),
          .scale = x.scale ? *x.scale : 1 / std::sqrt(128.f),
          .reserved2 = 0,
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// The gradients of hedgehog() for q, k, v, maps, factors and initial states, from what it was given
// and gave, and dout, with the same options. The same bit for bit from run to run. Throws tk::error
// before anything is launched or written.
inline void hedgehog_backward(hedgehog_backward_inputs const& in,
                              hedgehog_backward_outputs const& out, hedgehog_maps const& maps,
                              hedgehog_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, maps, options);
  detail::require(tk_hedgehog_backward(&problem, options.workspace, options.workspace_bytes,
                                       options.stream.handle()));
}

// Bytes of device memory that hedgehog_backward() wants as workspace. Data pointers may be null.
inline std::size_t hedgehog_backward_workspace(hedgehog_backward_inputs const& in,
                                               hedgehog_backward_outputs const& out,
                                               hedgehog_maps const& maps,
                                               hedgehog_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, maps, options);
  return detail::workspace(TK_OP_HEDGEHOG_BACKWARD, &problem);
}

// Why hedgehog_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> hedgehog_backward_refusal(
    hedgehog_backward_inputs const& in, hedgehog_backward_outputs const& out,
    hedgehog_maps const& maps, hedgehog_backward_options const& options = {}) {
  auto const problem = detail::problem(in, out, maps, options);
  return detail::refusal(tk_supports(TK_OP_HEDGEHOG_BACKWARD, &problem));
}

}  // namespace tk
