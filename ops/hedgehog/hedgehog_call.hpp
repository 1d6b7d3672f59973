// SPDX-License-Identifier: MIT
// The C++ interface of hedgehog, header-only over hedgehog.h.
#pragma once
#include <cmath>

#include "ops/hedgehog/hedgehog.h"
#include "ops/tk_base.hpp"

namespace tk {

struct hedgehog_maps {
  tensor_view q, k;         // [h, 128, 64], of the type of q
  tensor_view alpha, beta;  // fp32 [h]: factors of the linear part, and of the window
};
struct hedgehog_options {
  tensor_view initial_kv{}, initial_k{};  // fp32 [b, h, 128, 128], [b, h, 128]; 0 where absent
  output_view final_kv{}, final_k{};      // not written where absent; may be the initial ones
  tensor_view starts{};      // int32 [b + 1], of packed sequences, which lack the dimension b
  tensor_view key_starts{};  // as starts where absent
  output_view normaliser{};  // fp32 [b, h, nq]; what o is divided by, which the backward asks for
  tensor_view lengths{};     // int32 [b], keys of each sequence of a batch; nk where absent
  std::optional<float> scale{};  // 1 / sqrt(128) where absent
  void* workspace = nullptr;     // hedgehog_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_hedgehog_problem problem(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                                   output_view const& o, hedgehog_maps const& maps,
                                   hedgehog_options const& x) {
  return {.size = sizeof(tk_hedgehog_problem),
          .q = q.get(),
          .k = k.get(),
          .v = v.get(),
          .o = o.get(),
          .map_q = maps.q.get(),
          .map_k = maps.k.get(),
          .alpha = maps.alpha.get(),
          .beta = maps.beta.get(),
          .initial_kv = x.initial_kv.get(),
          .initial_k = x.initial_k.get(),
          .final_kv = x.final_kv.get(),
          .final_k = x.final_k.get(),
          .starts = x.starts.get(),
          .key_starts = x.key_starts.get(),
          .lengths = x.lengths.get(),
          .normaliser = x.normaliser.get(),
          .scale = x.scale ? *x.scale : 1 / std::sqrt(128.f),
          .reserved2 = 0,
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// Hedgehog attention, as hedgehog.h has it: softmax within the block of 64 tokens and the one
// before, linear attention by learned features on all before these, and one normaliser. q, o [b,
// nq, h, 128], k, v [b, nk, h, 128], of one type, bf16 or fp16; queries are the last nq of nk
// tokens; the last dimension contiguous, other strides free. The same bit for bit from run to run.
// Throws tk::error before anything is launched or written.
inline void hedgehog(tensor_view const& q, tensor_view const& k, tensor_view const& v,
                     output_view const& o, hedgehog_maps const& maps,
                     hedgehog_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, maps, options);
  detail::require(
      tk_hedgehog(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that hedgehog() wants as workspace. Data pointers may be null.
inline std::size_t hedgehog_workspace(tensor_view const& q, tensor_view const& k,
                                      tensor_view const& v, output_view const& o,
                                      hedgehog_maps const& maps,
                                      hedgehog_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, maps, options);
  return detail::workspace(TK_OP_HEDGEHOG, &problem);
}

// Why hedgehog() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> hedgehog_refusal(tensor_view const& q, tensor_view const& k,
                                             tensor_view const& v, output_view const& o,
                                             hedgehog_maps const& maps,
                                             hedgehog_options const& options = {}) {
  auto const problem = detail::problem(q, k, v, o, maps, options);
  return detail::refusal(tk_supports(TK_OP_HEDGEHOG, &problem));
}

}  // namespace tk
