// SPDX-License-Identifier: MIT
// From a checked problem with options to a launch of attention_general.
// attention_general_run<T, D> is instantiated as attention_forward_run is.
#pragma once

#include "ops/attention/attention_general.hpp"
#include "ops/attention/terms_of.hpp"

namespace tk {

template <class T, int D> struct attention_general_run {
  static void launch(attention_forward_problem const& x, void* workspace, void* stream);
};

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
  a.terms = terms_of<T>(x.terms, x.q, x.k);
  be::launch<Op>(a, stream);
}

}  // namespace tk
