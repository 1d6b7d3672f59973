// SPDX-License-Identifier: MIT
// From a checked problem with options to a launch of attention_general.
// attention_general_run<T, D> is instantiated as attention_forward_run is.
#pragma once

#include "ops/attention/attention_general.hpp"

namespace tk {

template <class T, int D> struct attention_general_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream);
};

template <class Op, class T> device_terms<T> terms_of(attention_forward_problem const& x) {
  auto const& from = x.terms;
  device_terms<T> to{};
  to.softcap = from.softcap;
  to.inverse_softcap = from.softcap != 0 ? 1 / from.softcap : 0.f;
  to.alibi = from.alibi;
  to.sinks = from.sinks;
  auto const& bias = from.bias;
  auto const take = [&]<class X>(tensor<X const>& b) {
    b = {static_cast<X const*>(bias.data),
         bias.nq,
         bias.nk,
         bias.n_stride,
         x.q.h,
         bias.h_stride,
         from.b,
         bias.b_stride};
    to.bias_width = vector_width_of(b);
  };
  if (bias.data && bias.type == element::fp32) take(to.wide_bias);
  else if (bias.data) take(to.bias);
  to.left = static_cast<int>(from.left);
  to.right = static_cast<int>(from.right);
  to.q_starts = from.q_starts;
  to.k_starts = from.k_starts;
  to.sequences = static_cast<int>(from.b);
  to.total_q = static_cast<int>(x.q.n);
  to.total_k = static_cast<int>(x.k.n);
  to.most_q = static_cast<int>(from.nq);
  to.most_k = static_cast<int>(from.nk);
  to.dropout = from.dropout;
  to.seed = from.seed;
  to.offset = from.offset;
  to.random_state = from.random_state;
  return to;
}

template <class T, int D>
void attention_general_run<T, D>::launch(attention_forward_problem const& x, void* workspace,
                                         void* stream) {
  using Op = attention_general<T, D>;
  auto const typed = []<class X>(X*, heads const& of) {
    return tensor<X>{
        static_cast<X*>(of.data), of.n, of.d, of.n_stride, of.h, of.h_stride, of.b, of.b_stride};
  };
  T const* const read = nullptr;
  T* const written = nullptr;
  typename Op::args a{};
  a.q = be::read_from<Op::M, D>(typed(read, x.q));
  a.kv[0] = be::read_from<Op::N, D>(typed(read, x.k));
  a.kv[1] = be::read_from<Op::N, D>(typed(read, x.v));
  a.o = be::write_to<Op::M, D>(typed(written, x.o));
  a.lse = x.lse;
  a.lse_b_stride = x.lse_b_stride;
  a.lse_h_stride = x.lse_h_stride;
  a.tickets = static_cast<unsigned*>(workspace);
  a.nq = static_cast<int>(x.q.n);
  a.nk = static_cast<int>(x.k.n);
  a.hq = static_cast<int>(x.q.h);
  a.group_heads = static_cast<int>(x.q.h / x.k.h);
  a.b = static_cast<int>(x.q.b);
  // As in run.hpp, and what is added to a score is added to a scaled one.
  bool const last = x.scale > 0 && x.scale < 0x1p127f && x.terms.softcap == 0 &&
                    !x.terms.alibi.given && !x.terms.bias.given;
  a.prescale = last ? 1.f : x.scale;
  a.scale_log2 = last ? x.scale * log2_e : log2_e;
  a.terms = terms_of<Op, T>(x);
  be::launch<Op>(a, stream);
}

}  // namespace tk
