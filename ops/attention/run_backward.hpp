// SPDX-License-Identifier: MIT
// From a checked problem to the two launches of attention_backward, and with options to that of its
// bias. attention_backward_run<T, D, Options> is instantiated once for each row of
// ops/attention/attention_backward.cmake; ops/attention/attention_backward.cpp chooses.
#pragma once

#include "ops/attention/attention_backward.hpp"
#include "ops/attention/attention_backward_bias.hpp"
#include "ops/attention/attention_backward_keys.hpp"
#include "ops/attention/attention_backward_queries.hpp"
#include "ops/attention/attention_backward_same_keys.hpp"
#include "ops/attention/terms_of.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T, int D, option_set Options> struct attention_backward_run {
  static void launch(attention_backward_problem const& x, void* workspace, void* stream);
};

template <class T, int D, option_set Options> class attention_backward_launcher {
 public:
  using cut = attention_backward_cut<D, Options>;

  attention_backward_launcher(attention_backward_problem const& x, void* workspace)
      : x_(x), tickets_(static_cast<unsigned*>(workspace)), rows_{}, with_{} {
    rows_.sizes = attention_backward_sizes(x);
    auto const at = attention_backward_layout::of<cut>(rows_.sizes);
    rows_.lse = in_workspace<float>(workspace, at.lse);
    rows_.delta = in_workspace<float>(workspace, at.delta);
    rows_.turns = in_workspace<unsigned>(workspace, at.turns);
    rows_.dq.data = in_workspace<float>(workspace, at.dq);
    if constexpr (cut::placed) {
      with_.terms = terms_of<T>(x.terms, x.q, x.k);
      with_.terms.q.total = rows_.sizes.nq;
      if (x.terms.packed) {
        with_.terms.q.starts = in_workspace<std::int32_t>(workspace, at.q_starts);
        with_.terms.k.starts = in_workspace<std::int32_t>(workspace, at.k_starts);
      }
      // What is added to a score is added to a scaled one.
      bool const last = x.terms.softcap == 0 && !x.terms.alibi.given && !x.terms.bias.given;
      with_.prescale = last ? 1.f : x.scale;
      scale_log2_ = last ? x.scale * log2_e : log2_e;
    } else {
      scale_log2_ = x.scale * log2_e;
    }
  }

  void prepare(void* stream) const {
    using op = attention_backward_prepare<T, D, Options>;
    typename op::args a{};
    a.o = be::read_from<op::M, D>(queries<T const>(x_.o));
    a.dout = be::read_from<op::M, D>(queries<T const>(x_.dout));
    a.dq = be::write_to<op::M, op::C>(queries<T>(x_.dq));
    a.rows = rows_;
    a.lse = x_.lse;
    a.lse_b_stride = x_.lse_b_stride;
    a.lse_h_stride = x_.lse_h_stride;
    if constexpr (cut::placed) a.terms = with_.terms;
    be::launch<op>(a, stream);
  }

  template <mask_kind Mask> void products(void* stream) const {
    if constexpr (cut::split) {
      using dq = attention_backward_queries<T, D, Mask, Options>;
      auto a = args_of<dq, D>();
      a.dq = be::write_to<dq::M, D>(queries<T>(x_.dq));
      be::launch<dq>(a, stream);
      using dkv = attention_backward_keys<T, D, Mask, Options>;
      launch_keys<dkv>(args_of<dkv, D>(), stream);
    } else if constexpr (cut::same_keys) {
      using op = attention_backward_same_keys<T, D, Mask, Options>;
      auto a = args_of<op, D>();
      a.dq = queries<T>(x_.dq);
      launch_keys<op>(a, stream);
    } else {
      using op = attention_backward<T, D, Mask, Options>;
      auto a = args_of<op, op::P>();
      if constexpr (cut::transposed) a.dq = queries<T>(x_.dq);
      else a.dq = be::write_to<op::Q, op::C>(queries<T>(x_.dq));
      launch_keys<op>(a, stream);
    }
  }

  void bias(void* stream) const {
    using op = attention_backward_bias<T, D>;
    auto const& to = x_.dbias;
    typename op::args a{};
    a.q = be::read_from<op::R, op::P>(queries<T const>(x_.q));
    a.dout = be::read_from<op::R, op::P>(queries<T const>(x_.dout));
    a.k = be::read_from<op::C, op::P>(typed<T const>(x_.k));
    a.v = be::read_from<op::C, op::P>(typed<T const>(x_.v));
    a.rows = rows_;
    a.with = with_;
    if (to.type == element::fp32) {
      a.wide_dbias = bias_as<float>(to, to.h, to.b);
      a.width = vector_width_of(a.wide_dbias);
    } else {
      a.dbias = bias_as<T>(to, to.h, to.b);
      a.width = vector_width_of(a.dbias);
    }
    a.dbias_heads = static_cast<int>(to.h);
    a.dbias_batches = static_cast<int>(to.b);
    a.heads = static_cast<int>(x_.q.h);
    a.batches = static_cast<int>(x_.terms.b);
    a.tickets = tickets_;
    a.scale_log2 = scale_log2_;
    be::launch<op>(a, stream);
  }

 private:
  // P: the columns that one copy has.
  template <class Op, int P> typename Op::args args_of() const {
    typename Op::args a{};
    a.q = be::read_from<Op::M, P>(queries<T const>(x_.q));
    a.dout = be::read_from<Op::M, P>(queries<T const>(x_.dout));
    a.k = be::read_from<Op::N, P>(typed<T const>(x_.k));
    a.v = be::read_from<Op::N, P>(typed<T const>(x_.v));
    a.rows = rows_;
    a.tickets = tickets_;
    a.scale = x_.scale;
    a.scale_log2 = scale_log2_;
    if constexpr (cut::placed) a.with = with_;
    return a;
  }
  template <class Op> void launch_keys(typename Op::args a, void* stream) const {
    a.dk = be::write_to<Op::N, Op::owned>(typed<T>(x_.dk));
    a.dv = be::write_to<Op::N, Op::owned>(typed<T>(x_.dv));
    be::launch<Op>(a, stream);
  }
  // No row where there is no head, so that the one block of queries of a walk is outside.
  template <class U> static tensor<U> queries(heads const& x) {
    auto y = typed<U>(x);
    if (x.h == 0) y.rows = 0;
    return y;
  }

  attention_backward_problem const& x_;
  unsigned* tickets_;
  attention_backward_rows<cut> rows_;
  std::conditional_t<cut::placed, backward_options<T>, no_terms> with_;
  float scale_log2_;
};

template <class T, int D, option_set Options>
void attention_backward_run<T, D, Options>::launch(attention_backward_problem const& x,
                                                   void* workspace, void* stream) {
  attention_backward_launcher<T, D, Options> const launcher(x, workspace);
  if (x.has_rows()) {
    launcher.prepare(stream);
    if constexpr (Options == option_set::none) {
      if (x.mask == mask_kind::causal) launcher.template products<mask_kind::causal>(stream);
      else launcher.template products<mask_kind::none>(stream);
    } else {
      launcher.template products<mask_kind::none>(stream);
    }
  }
  if constexpr (Options == option_set::all)
    if (x.dbias.given) launcher.bias(stream);
}

}  // namespace tk
