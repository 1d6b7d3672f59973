// SPDX-License-Identifier: MIT
// A step of decoding of Based: one token of each sequence of a batch, with the moments m of
// ops/based/moments.hpp and w, which are m with a query's weights,
//           S' = S + m(k)^T v,  z' = z + m(k),   o = w(q) S',
// and with the normaliser o / (w(q) z' + 1e-6). States are read and written once, as they lie in
// memory.
// Shapes    as based_scan.hpp's, n = 1.
// Numerics  fp32; o is rounded once, moments and states are not.
// Order     a task has a head, so that z may be written where it was read. A lane adds up what it
//           has read of a column, then the lanes' sums are added in order.
#pragma once
#include "backends/kernel.hpp"
#include "core/vector.hpp"
#include "ops/based/plan.hpp"
#include "ops/linear_attention/state_walk.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct based_step : lone_worker {
  static constexpr int F = based_moments::columns, M = based_moments::count, widest = 256;  // of v
  using states = walked_states<64>;
  using lanes = states::lanes;
  struct args {
    tensor<T const> q, k, v;
    tensor<T> o;
    int b, h, columns;
    states of;
    bool normalises;
    moment_sums initial, final;
    float scale;
  };
  struct scratch {
    float q[M], k[M], v[widest];
    shared_vec<float, F> met;          // w(q) z', by columns of moments
    float sums[widest * lanes::down];  // of each column, of lanes
  };
  struct task {
    int sequence, head, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.b * a.h; }
  static TK_BOTH task task_at(args const& a, int i, int) { return {i / a.h, i % a.h, 0}; }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto& x = c.scratch;
    int const lane = c.w.lane();
    T const *const q = a.q.at(0, 0, t.head, t.sequence), *const k =
                                                             a.k.at(0, 0, t.head, t.sequence);
    for (int i = lane; i < F; i += be::worker_lanes) {
      int const row = based_moments::row_of(i);
      float const of_q = moment(q, i) * based_moments::weight(i, a.scale), of_k = moment(k, i);
      x.met.data[i] = 0;
      if (row < 0) continue;
      x.q[row] = of_q, x.k[row] = of_k;
      if (a.normalises) x.met.data[i] = of_q * moved_sum(a, t, row, of_k);
    }
    for (int i = lane; i < a.columns; i += be::worker_lanes)
      x.v[i] = be::widen(*a.v.at(0, i, t.head, t.sequence));
    c.w.sync();
    a.of.walk_rows(
        x.q, M, 0, a.columns, t.head, t.sequence,
        [&](int row, int col, states::run& s) {
          TK_UNROLL
          for (int i = 0; i < s.n; ++i) s.of[i] += x.k[row] * x.v[col + i];
        },
        [&](int col, int nth, float sum) { x.sums[col * lanes::down + nth] = sum; });
    float const inverse = a.normalises ? be::reciprocal(sum_of(x.met) + least_normaliser) : 1.f;
    c.w.sync();
    for (int i = lane; i < a.columns; i += be::worker_lanes) {
      float o = 0;
      for (int n = 0; n < lanes::down; ++n) o += x.sums[i * lanes::down + n];
      put(a.o.at(0, i, t.head, t.sequence), o * inverse);
    }
  }

 private:
  // Of a column of moments that has a row.
  static TK_DEVICE float moment(T const* x, int column) {
    constexpr int width = based_moments::width;
    int const tile = column / width, i = column % width;
    if (tile == based_moments::linear) return be::widen(x[i]);
    if (column == based_moments::products_with_one * width + based_moments::of_one) return 1;
    return be::widen(x[i]) * be::widen(x[i ^ based_moments::exchange(tile, i)]);
  }
  // z' of a row, which is left.
  static TK_DEVICE float moved_sum(args const& a, task const& t, int row, float of_k) {
    auto const at = [&](moment_sums const& z) {
      return z.data + t.sequence * z.b_stride + t.head * z.h_stride + row;
    };
    float const z = (a.initial.given ? *at(a.initial) : 0.f) + of_k;
    if (a.final.given) *at(a.final) = z;
    return z;
  }
};

template <class T> struct based_step_run {
  static void launch(based_scan_problem const& x, bool normalises, void* stream);
};
template <class T>
void based_step_run<T>::launch(based_scan_problem const& x, bool normalises, void* stream) {
  typename based_step<T>::args a{};
  a.q = typed<T const>(x.q);
  a.k = typed<T const>(x.k);
  a.v = typed<T const>(x.v);
  a.o = typed<T>(x.o);
  a.b = x.rows.b;
  a.h = x.rows.h;
  a.columns = static_cast<int>(x.v.d);
  walk(a.of, x.initial, x.final);
  a.normalises = normalises;
  a.initial = x.initial_sums;
  a.final = x.final_sums;
  a.scale = x.scale;
  be::launch<based_step<T>>(a, stream);
}

}  // namespace tk
