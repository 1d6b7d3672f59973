// SPDX-License-Identifier: MIT
// From a checked problem to the two launches of attention_backward. attention_backward_run<T, D> is
// instantiated once for each row of ops/attention/attention_backward.cmake;
// ops/attention/attention_backward.cpp chooses.
#pragma once

#include "ops/attention/attention_backward.hpp"

namespace tk {

template <class T, int D> struct attention_backward_run {
  static void launch(attention_backward_problem const& x, void* workspace, void* stream);
};

template <class T, int D> class attention_backward_launcher {
 public:
  using cut = attention_backward_cut<D>;

  attention_backward_launcher(attention_backward_problem const& x, void* workspace)
      : x_(x), tickets_(static_cast<unsigned*>(workspace)), rows_{} {
    rows_.sizes = attention_backward_sizes(x);
    auto const at = attention_backward_layout::of<D>(rows_.sizes);
    rows_.lse = in_workspace<float>(workspace, at.lse);
    rows_.delta = in_workspace<float>(workspace, at.delta);
    rows_.turns = in_workspace<unsigned>(workspace, at.turns);
    rows_.dq.data = in_workspace<float>(workspace, at.dq);
  }

  void prepare(void* stream) const {
    using op = attention_backward_prepare<T, D>;
    typename op::args a{};
    a.o = be::read_from<op::M, D>(queries<T const>(x_.o));
    a.dout = be::read_from<op::M, D>(queries<T const>(x_.dout));
    a.dq = be::write_to<op::M, op::C>(queries<T>(x_.dq));
    a.rows = rows_;
    a.lse = x_.lse;
    a.lse_b_stride = x_.lse_b_stride;
    a.lse_h_stride = x_.lse_h_stride;
    be::launch<op>(a, stream);
  }

  template <mask_kind Mask> void products(void* stream) const {
    using op = attention_backward<T, D, Mask>;
    typename op::args a{};
    a.q = be::read_from<op::M, op::P>(queries<T const>(x_.q));
    a.dout = be::read_from<op::M, op::P>(queries<T const>(x_.dout));
    a.k = be::read_from<op::N, op::P>(all_rows<T const>(x_.k));
    a.v = be::read_from<op::N, op::P>(all_rows<T const>(x_.v));
    a.dq = be::write_to<op::M, op::C>(queries<T>(x_.dq));
    a.dk = be::write_to<op::N, op::P>(all_rows<T>(x_.dk));
    a.dv = be::write_to<op::N, op::P>(all_rows<T>(x_.dv));
    a.rows = rows_;
    a.tickets = tickets_;
    a.scale = x_.scale;
    a.scale_log2 = x_.scale * log2_e;
    be::launch<op>(a, stream);
  }

 private:
  // Rows are tokens, the outer indices head and batch.
  template <class U> static tensor<U> all_rows(heads const& x) {
    return {static_cast<U*>(x.data), x.n, x.d, x.n_stride, x.h, x.h_stride, x.b, x.b_stride};
  }
  // No row where there is no head, so that the one block of queries of a walk is outside.
  template <class U> static tensor<U> queries(heads const& x) {
    auto y = all_rows<U>(x);
    if (x.h == 0) y.rows = 0;
    return y;
  }

  attention_backward_problem const& x_;
  unsigned* tickets_;
  attention_backward_rows<D> rows_;
};

template <class T, int D>
void attention_backward_run<T, D>::launch(attention_backward_problem const& x, void* workspace,
                                          void* stream) {
  attention_backward_launcher<T, D> const launcher(x, workspace);
  launcher.prepare(stream);
  if (x.mask == mask_kind::causal) launcher.template products<mask_kind::causal>(stream);
  else launcher.template products<mask_kind::none>(stream);
}

}  // namespace tk
