// SPDX-License-Identifier: MIT
// From a checked problem to a launch of attention_forward. attention_forward_run<T, D, Options> is
// instantiated once for each row of ops/attention/attention_forward.cmake;
// ops/attention/attention.cpp chooses.
#pragma once

#include "ops/attention/attention_forward.hpp"
#include "ops/attention/terms_of.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T, int D, option_set Options> struct attention_forward_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream);
};

template <class Op, class T, int D>
void launch_attention_forward(attention_forward_problem const& x, void* workspace, void* stream) {
  typename Op::args a{};
  a.q = be::read_from<Op::M, D>(typed<T const>(x.q));
  a.kv[0] = be::read_from<Op::N, D>(typed<T const>(x.k));
  a.kv[1] = be::read_from<Op::N, D>(typed<T const>(x.v));
  a.o = be::write_to<Op::M, D>(typed<T>(x.o));
  a.lse = x.lse;
  a.lse_b_stride = x.lse_b_stride;
  a.lse_h_stride = x.lse_h_stride;
  a.tickets = static_cast<unsigned*>(workspace);
  a.nq = static_cast<int>(x.q.n);
  a.nk = static_cast<int>(x.k.n);
  a.hq = static_cast<int>(x.q.h);
  a.group_heads = static_cast<int>(x.q.h / x.k.h);
  a.b = static_cast<int>(x.q.b);
  // The largest score has the largest exponent only under a positive scale, and log2(e) times one
  // beyond 2^127 is infinite (where that product is asked, g++ 13 takes the scale for infinite).
  // What is added to a score is added to a scaled one.
  bool const last = x.scale > 0 && x.scale < 0x1p127f && x.terms.softcap == 0 &&
                    !x.terms.alibi.given && !x.terms.bias.given;
  a.prescale = last ? 1.f : x.scale;
  a.scale_log2 = last ? x.scale * log2_e : log2_e;
  if constexpr (Op::placed) a.terms = terms_of<T>(x.terms, x.q, x.k);
  be::launch<Op>(a, stream);
}

template <class T, int D, option_set Options>
void attention_forward_run<T, D, Options>::launch(attention_forward_problem const& x,
                                                  void* workspace, void* stream) {
  constexpr auto none = mask_kind::none, causal = mask_kind::causal;
  if constexpr (Options != option_set::none)
    launch_attention_forward<attention_forward<T, D, none, Options>, T, D>(x, workspace, stream);
  else if (x.mask == causal)
    launch_attention_forward<attention_forward<T, D, causal>, T, D>(x, workspace, stream);
  else launch_attention_forward<attention_forward<T, D, none>, T, D>(x, nullptr, stream);
}

}  // namespace tk
