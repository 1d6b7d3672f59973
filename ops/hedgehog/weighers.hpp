// SPDX-License-Identifier: MIT
// Hedgehog's scan (hedgehog_scan.hpp) by four workers with two roles. Two weighers make features
// and weights: one of them phi(q) and the weights of the own block, the other phi(k) and the
// weights of the block before. Two adders, who have all columns between them, make o and the state.
// Order     all meet twice in a step. First: adders are done with what weighers made for the step
//           before, and weighers have left their scores' maxima. Then: what weighers make for this
//           step is there. Between, weighers are a step ahead with scores, while adders round the
//           state and store o.
#pragma once
#include "core/product.hpp"
#include "core/row_totals.hpp"
#include "core/vector.hpp"
#include "ops/hedgehog/features.hpp"
#include "ops/hedgehog/hedgehog_sizes.hpp"

namespace tk {

// Of each worker. Adders have the state, weighers have features and weights; and what a weigher
// leaves besides lies where the adder of its number has room.
template <class T> struct weighers_scratch {
  using sizes = hedgehog_sizes<T>;
  static constexpr int C = sizes::C, D = sizes::D, F = sizes::F;
  struct vectors {
    shared_vec<float, C> top, weight;  // of the scores; sums of weights, and the first's l
    shared_vec<float, F> z[2][2];      // of both weighers, in the second's: of a step and the next
    col_shares<F> shares[2];
  };
  union {
    shared_tile<T, D, sizes::P> state;
    shared_tile<T, C, D> phi;
  };
  union {
    shared_tile<T, C, C> p;
    vectors left;
  };
};

template <class Scan> struct hedgehog_weighers {
  using sizes = typename Scan::sizes;
  using args = typename Scan::args;
  using task = typename Scan::task;
  using features = typename Scan::features;
  using column = typename Scan::column;
  static constexpr int C = Scan::C, D = Scan::D, F = Scan::F, P = Scan::P,
                       weighers = sizes::tune.weighers, adders = sizes::workers - weighers;
  static constexpr bool Outputs = Scan::has_outputs;
  static_assert(sizes::tune.resident && weighers == 2 && adders == 2 && sizes::parts == 1);

  template <class Context> static TK_DEVICE void weigh(Context& c, args const& a, task const& t) {
    int const nth = c.w.id() - adders;
    bool const second = nth == 1;
    auto &left = c.scratches[nth].left, &other = c.scratches[1 - nth].left;
    auto& z = c.scratches[1].left.z;
    auto const& maps = c.common.take();
    int now = 0;  // of z
    if (second) Scan::begin_sums(c.w, z[0], a, t);
    bool ahead = false;  // of what the others have not met yet
    auto const meet_before = [&] {
      if (ahead) c.all.await();
      ahead = true;
    };
    auto const add_to_z = [&](int half, int column, float sum) {
      z[1 - now][half].data[column] = z[now][half].data[column] + sum;
    };
    features u;
    for (int block = t.first; block < t.absorbing; ++block) {
      features e;
      mm_ab(u, c.in.take().x, maps.k);
      wait<0>(u);
      c.in.release();
      softmax_of(e, u, second);
      e = max(e, least_feature);
      col_sum_shares(c.w, left.shares[0], e);
      meet_before();
      c.all.arrive();
      c.all.await();
      tk::store(columns<F>(c.scratches[adders + 1].phi, nth), cast<T>(e));
      for_col_sums(left.shares[0], [&](int column, float sum) { add_to_z(nth, column, sum); });
      now = 1 - now;
      c.all.arrive();
      skip(c, 1);
    }
    if constexpr (Outputs) {
      for (int block = t.absorbing; block < t.last; ++block) {
        bool const adds = Scan::adds(t, block);
        auto const &q = c.in.take(), &k = c.in.take(), &before = c.in.take();
        reg_tile<float, C, C> scores;
        mm_abt(scores, q.x, second ? before.x : k.x);
        mm_ab(u, second ? before.x : q.x, second ? maps.k : maps.q);
        wait<1>(scores);
        if (!second) keep_lower(scores, t.at.queries(block).shift, -inf);
        else if (block == 0) scores = -inf;
        column const my_top = row_max(scores);
        wait<0>(u);
        for (int i = 0; i < 3; ++i) c.in.release();
        meet_before();
        tk::store(left.top, my_top);
        c.all.arrive();
        c.all.await();
        column const top = max(my_top, load_col<C>(other.top.data, C, 0.f)) * a.scale_log2;
        reg_tile<T, C, C> p;
        column const share =
            cast_with_sum(p, exp2(scores * a.scale_log2 - top) * a.beta.at(t.head));
        tk::store(c.scratch.p, p);
        column weight = total(share);
        if (!second) {
          weight = weight + put_queries(c.scratch.phi, z[now], u) * a.alpha.at(t.head);
        } else if (adds) {
          put_keys(c.w, c.scratch.phi, left.shares, u, add_to_z);
        }
        if (adds) now = 1 - now;
        tk::store(left.weight, weight);
        c.all.arrive();
        skip(c, 2);
      }
    }
    meet_before();
    c.all.arrive();
    c.all.await();
    c.common.release();
    if (second && Scan::leaves(a, t)) Scan::leave_sums(c.w, z[now], a, t);
  }

  template <class Context> static TK_DEVICE void add(Context& c, args const& a, task const& t) {
    int const col = c.w.id() * P;
    auto &of_own = c.scratches[adders], &of_before = c.scratches[adders + 1];
    c.common.take();
    reg_tile<float, D, P> s;
    Scan::begin(s, a, t, col);
    // The tiles that weighers read in a step, the one before which a step of this kind begins.
    auto const skip_before = [&](int block) {
      if (block < t.absorbing) skip(c, 1);
      else if (block < t.last) skip(c, 3);
    };
    auto const meet = [&] {
      c.all.await();
      c.all.arrive();
      c.all.await();
    };
    skip_before(t.first);
    c.all.arrive();
    for (int block = t.first; block < t.absorbing; ++block) {
      auto const& v = c.in.take().v;
      meet();
      mma_atb(s, of_before.phi, columns<P>(v, c.w.id()));
      wait<0>(s);
      c.in.release();
      skip_before(block + 1);
      c.all.arrive();
    }
    if constexpr (Outputs) {
      put_state(c, s, a.alpha.at(t.head));
      for (int block = t.absorbing; block < t.last; ++block) {
        bool const adds = Scan::adds(t, block);
        auto const &v = c.in.take().v, &v_before = c.in.take().v;
        meet();
        reg_tile<float, C, P> o;
        mm_ab(o, of_own.phi, c.scratch.state);
        mma_ab(o, of_own.p, columns<P>(v, c.w.id()));
        mma_ab(o, of_before.p, columns<P>(v_before, c.w.id()));
        if (adds) {
          mma_atb(s, of_before.phi, columns<P>(v_before, c.w.id()));
          wait<0>(o, s);
        } else {
          wait<0>(o);
        }
        column const sum = load_col<C>(c.scratches[0].left.weight.data, C, 0.f) +
                           load_col<C>(c.scratches[1].left.weight.data, C, 0.f) + least_sum;
        c.in.release();
        c.in.release();
        skip_before(block + 1);
        c.all.arrive();
        Scan::leave(a, t, t.at.queries(block), col, o, sum);
        // All warps have read it: they have met in skip().
        if (adds && block + 1 < t.last) put_state(c, s, a.alpha.at(t.head));
      }
    }
    c.all.await();
    c.common.release();
    if (Scan::leaves(a, t)) Scan::leave_state(a, t, col, s);
  }

 private:
  using T = typename Scan::type;
  // It is there when all have met.
  template <class Context>
  static TK_DEVICE void put_state(Context& c, reg_tile<float, D, P> const& s, float alpha) {
    tk::store(c.scratch.state, cast<T>(s * alpha));
  }
};

}  // namespace tk
