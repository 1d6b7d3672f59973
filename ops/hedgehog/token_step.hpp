// SPDX-License-Identifier: MIT
// A step of decoding of Hedgehog attention: the last query of each sequence of a batch, whose
// window all keys are,
//   p_j = beta exp(scale (q k_j - max_j)),  l = alpha phi(q),  z = sums of features
//   o = (sum over j of p_j v_j + l S) / (sum over j of p_j + l z + 1e-6)
// States are read once, as they lie in memory, and copied where the final ones lie elsewhere; to
// those of sequences of 128 keys hedgehog_scan.hpp adds the first 64 afterwards.
// Shapes    as hedgehog_scan.hpp's, nq = 1, nk <= 128.
// Numerics  fp32; o is rounded once, weights, features and states are not.
// Order     a task has a head. A lane adds up what it has read, of a row or of a column, then the
//           lanes' sums are added in order.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/vector.hpp"
#include "ops/hedgehog/scan.hpp"
#include "ops/hedgehog/typed_maps.hpp"
#include "ops/linear_attention/state_walk.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct hedgehog_step : lone_worker {
  static constexpr int D = hedgehog_width, F = hedgehog_features, most = 2 * hedgehog_block;
  using states = walked_states<D>;
  using lanes = states::lanes;  // of keys and values, too
  using map_lanes = lanes_of_runs<F>;
  struct args {
    tensor<T const> q, k, v, map;
    tensor<T> o;
    strided_numbers alpha, beta;
    query_numbers normaliser;  // data may be null
    hedgehog_rows rows;
    float scale_log2;
    states of;
    state_sums initial_sums, final_sums;  // data may be null
    bool whole;                           // keys, values and the map are in memory of whole runs
  };
  struct scratch {
    float q[D], u[map_lanes::down * F], scores[most], l[D];
    shared_vec<float, most> p;
    shared_vec<float, D> met;  // l z
    float sums[D * lanes::down];
  };
  struct task {
    int sequence, head, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.rows.keys.b * a.rows.keys.h; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    return {i / a.rows.keys.h, i % a.rows.keys.h, 0};
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto& x = c.scratch;
    int const lane = c.w.lane();
    auto const at = a.rows.sequence(t.sequence);
    for (int i = lane; i < D; i += be::worker_lanes) {
      x.met.data[i] = a.initial_sums.data ? a.initial_sums.at(t.sequence, t.head)[i] : 0.f;
      if (a.final_sums.data) a.final_sums.at(t.sequence, t.head)[i] = x.met.data[i];
      x.l[i] = 0;
    }
    if (at.nq > 0) {
      for (int i = lane; i < D; i += be::worker_lanes)
        x.q[i] = be::widen(*a.q.at(at.first_query, i, t.head, at.batch));
      c.w.sync();
      weigh_rows<F>(a.map, a.whole, x.q, 0, D, t.head, 0,
                    [&](int f, int nth, float share) { x.u[nth * F + f] = share; });
      score(x, a, t, at);
      c.w.sync();
      put_features(x, a.alpha.at(t.head));
      put_weights(x, a, at.n, a.beta.at(t.head));
    }
    c.w.sync();
    a.of.walk_rows(
        x.l, D, 0, D, t.head, t.sequence, [](int, int, states::run&) {},
        [&](int col, int nth, float share) { x.sums[col * lanes::down + nth] = share; });
    if (at.nq > 0) {
      weigh_rows<D>(a.v, a.whole, x.p.data, at.first, at.n, t.head, at.batch,
                    [&](int col, int nth, float share) {  // of the same lane
                      x.sums[col * lanes::down + nth] += share;
                    });
      float const sum = sum_of(x.p, at.n) + sum_of(x.met) + least_sum,
                  inverse = be::reciprocal(sum);
      c.w.sync();
      for (int i = lane; i < D; i += be::worker_lanes) {
        float o = 0;
        for (int k = 0; k < lanes::down; ++k) o += x.sums[i * lanes::down + k];
        put(a.o.at(at.first_query, i, t.head, at.batch), o * inverse);
      }
      if (a.normaliser.data && lane == 0)
        a.normaliser.data[at.batch * a.normaliser.b_stride + t.head * a.normaliser.h_stride +
                          at.first_query] = sum;
    }
  }

 private:
  using place = hedgehog_rows::place;
  // Over the lanes of a warp.
  template <class Combine> static TK_DEVICE float over_warp(float x, int lanes = be::warp_lanes) {
    for (int bit = 1; bit < lanes; bit *= 2) x = Combine{}(x, be::shuffle_xor(x, bit));
    return x;
  }

  // q k of all keys.
  static TK_DEVICE void score(scratch& x, args const& a, task const& t, place const& at) {
    // As many turns for all lanes, who exchange sums.
    for (int first = 0; first < at.n; first += lanes::rows_at_once) {
      int const row = first + lanes::row();
      float s[runs_at_once] = {};
      for (int col = lanes::col(); col < D; col += lanes::step)
        visit_runs<lanes::down>(a.k, a.whole, at.first + row, at.first + at.n, col, t.head,
                                at.batch, [&](int i, int, run_of<T> const& k) {
                                  TK_UNROLL
                                  for (int n = 0; n < k.n; ++n)
                                    s[i] += x.q[col + n] * be::widen(k.of[n]);
                                });
      TK_UNROLL
      for (int i = 0; i < runs_at_once; ++i) {
        float const sum = over_warp<plus>(s[i], lanes::across);
        int const j = row + i * lanes::down;
        if (be::worker_lane() % lanes::across == 0 && j < at.n) x.scores[j] = sum;
      }
    }
  }

  // alpha phi(q), and its products with z. Each warp finds the same, the first one leaves it.
  static TK_DEVICE void put_features(scratch& x, float alpha) {
    constexpr int each = F / be::warp_lanes;
    int const lane = be::worker_lane() % be::warp_lanes;
    float u[each], top = -inf, bottom = inf;
    TK_UNROLL
    for (int k = 0; k < each; ++k) {
      u[k] = 0;
      for (int nth = 0; nth < map_lanes::down; ++nth)
        u[k] += x.u[nth * F + lane + k * be::warp_lanes];
      u[k] *= log2_e;
      top = be::max(top, u[k]), bottom = be::min(bottom, u[k]);
    }
    top = over_warp<larger>(top), bottom = over_warp<smaller>(bottom);
    TK_UNROLL
    for (int half = 0; half < 2; ++half) {
      float e[each], sum = 0;
      TK_UNROLL
      for (int k = 0; k < each; ++k) {
        e[k] = be::exp2(half == 0 ? u[k] - top : bottom - u[k]);
        sum += e[k];
      }
      float const inverse = be::reciprocal(over_warp<plus>(sum));
      if (be::worker_lane() >= be::warp_lanes) continue;
      TK_UNROLL
      for (int k = 0; k < each; ++k) {
        int const i = half * F + lane + k * be::warp_lanes;
        float const l = alpha * be::max(e[k] * inverse, least_feature);
        x.l[i] = l;
        x.met.data[i] *= l;
      }
    }
  }
  // p of n keys.
  static TK_DEVICE void put_weights(scratch& x, args const& a, int n, float beta) {
    float top = -inf;
    for (int j = be::worker_lane() % be::warp_lanes; j < n; j += be::warp_lanes)
      top = be::max(top, x.scores[j]);
    top = over_warp<larger>(top) * a.scale_log2;
    for (int j = be::worker_lane(); j < n; j += be::worker_lanes)
      x.p.data[j] = beta * be::exp2(x.scores[j] * a.scale_log2 - top);
  }
};

template <class T> void hedgehog_step_run<T>::launch(hedgehog_scan_problem const& x, void* stream) {
  auto const& p = x.of;
  typename hedgehog_step<T>::args a{};
  a.q = typed<T const>(p.q);
  a.k = typed<T const>(p.k);
  a.v = typed<T const>(p.v);
  a.map = typed<T const>(p.map_q);
  a.o = typed<T>(p.o);
  a.alpha = {p.alpha.data, p.alpha.stride};
  a.beta = {p.beta.data, p.beta.stride};
  a.normaliser = p.normaliser;
  a.rows = x.rows;
  a.scale_log2 = p.scale * log2_e;
  walk(a.of, p.initial_kv, p.final_kv);
  a.initial_sums = {p.initial_k.data, p.initial_k.b_stride, p.initial_k.h_stride};
  a.final_sums = {p.final_k.data, p.final_k.b_stride, p.final_k.h_stride};
  // What lies in its place stays.
  if (p.final_kv.data == p.initial_kv.data) a.of.final.data = nullptr;
  if (p.final_k.data == p.initial_k.data) a.final_sums.data = nullptr;
  a.whole = is_whole(a.k) && is_whole(a.v) && is_whole(a.map);
  be::launch<hedgehog_step<T>>(a, stream);
}

}  // namespace tk
