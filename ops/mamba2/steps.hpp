// SPDX-License-Identifier: MIT
// dt' of each token and head, and in each chunk the running sums of log2 of the decays dt' A (as in
// ops/linear_attention/chunk_decays.hpp). A task has a chunk of all heads, a lane some of them; the
// last one spreads D over columns.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "ops/linear_attention/chunk_decays.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/mamba2/plan.hpp"

namespace tk {

// dt' and its slope, from dt with its bias.
struct step_and_slope {
  float step, slope;
  TK_DEVICE step_and_slope(float dt, steps_to_take const& a) {
    float const x = a.softplus ? softplus{}(dt) : dt;
    bool const below = x<a.dt_min, above = x> a.dt_max;
    step = below ? a.dt_min : above ? a.dt_max : x;
    slope = below || above ? 0.f : a.softplus ? sigmoid_and_slope(dt).value : 1.f;
  }
};
TK_DEVICE float of_head(head_vector const& x, int head) {
  return x.data ? x.data[head * x.h_stride] : 0.f;
}

template <class T> struct mamba2_steps {
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1;
  static constexpr float least = chunk_decays<float>::least;
  struct stage {};
  struct own {};
  struct scratch {};
  using args = steps_to_take;
  struct task {
    int block, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.rows.blocks(a.C) + 1; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (t.block == a.rows.blocks(a.C)) return spread_skip(c, a);
    auto const at = place_of_chunk(a.rows, t.block, a.C);
    if (at.tokens == 0) return;
    for (int head = c.w.lane(); head < a.rows.h; head += be::worker_lanes) {
      T const* const from = static_cast<T const*>(a.dt.data) + at.batch * a.dt.b_stride +
                            at.row * a.dt.n_stride + head * a.dt.h_stride;
      auto const place = a.to.decays.row(t.block, head, a.rows.h, a.C);
      float const rate = of_head(a.A, head) * log2_e, bias = of_head(a.dt_bias, head);
      float sum = 0;
      for (int i = 0; i < a.C; ++i) {
        float step = 0, slope = 0;
        if (i < at.tokens) {
          step_and_slope const of(be::widen(from[i * a.dt.n_stride]) + bias, a);
          step = of.step, slope = of.slope;
          float const x = step * rate;
          sum += x < least ? least : x;
        }
        a.to.decays.data[place + i] = sum;
        a.to.weights[place + i] = step;
        if (a.to.slopes) a.to.slopes[place + i] = slope;
      }
    }
  }

 private:
  template <class Context> static TK_DEVICE void spread_skip(Context& c, args const& a) {
    if (!a.to.skip) return;
    int const all = a.rows.h * a.p;
    for (int i = c.w.lane(); i < all; i += be::worker_lanes)
      a.to.skip[i] = a.D.data[i / a.p * a.D.h_stride + i % a.p * a.D.p_stride];
  }
};

template <class T> struct mamba2_steps_run {
  static void launch(steps_to_take const& x, void* stream);
};
template <class T> void mamba2_steps_run<T>::launch(steps_to_take const& x, void* stream) {
  be::launch<mamba2_steps<T>>(x, stream);
}

}  // namespace tk
