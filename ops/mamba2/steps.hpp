// SPDX-License-Identifier: MIT
// dt' of each token and head, and in each chunk the running sums of log2 of the decays dt' A (as in
// ops/linear_attention/chunk_decays.hpp); D spread over columns.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "ops/linear_attention/chunk_decays.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/linear_attention/lone_worker.hpp"
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

template <class T> struct mamba2_steps : lone_worker {
  struct scratch {
    chunk_sums::table sums, steps, slopes;
  };
  using args = steps_to_take;
  using task = chunk_sums::task;

  static TK_BOTH int tasks(args const& a) {
    return chunk_sums::tasks(a.rows.blocks(a.C), a.rows.h);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    return chunk_sums::task_at(i, a.rows.h);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (t.block == 0 && a.to.skip) spread_skip(c, a, t);
    auto const at = place_of_chunk(a.rows, t.block, a.C);
    if (at.tokens == 0) return;
    T const* const from = static_cast<T const*>(a.dt.data) + at.batch * a.dt.b_stride +
                          at.row * a.dt.n_stride + t.head * a.dt.h_stride;
    auto const is_there = [&](int head, int token) { return head < t.heads && token < at.tokens; };
    auto& s = c.scratch;
    chunk_sums::for_each(
        a.C,
        [&](int head, int token) {
          return is_there(head, token) ? from[head * a.dt.h_stride + token * a.dt.n_stride] : T{};
        },
        [&](int head, int token, T x) {
          float log_decay = 0, step = 0, slope = 0;
          if (is_there(head, token)) {
            step_and_slope const of(be::widen(x) + of_head(a.dt_bias, t.head + head), a);
            step = of.step, slope = of.slope;
            log_decay = step * (of_head(a.A, t.head + head) * log2_e);
          }
          s.sums[head][token] = chunk_sums::bounded(log_decay);
          s.steps[head][token] = step, s.slopes[head][token] = slope;
        });
    chunk_sums::sum_parts(c.w, s.sums, a.C);
    if (a.to.factors) return write_factors(c, a, t);
    auto const place = a.to.decays.row(t.block, t.head, a.rows.h, a.C);
    chunk_sums::write(c.w, t, a.C, [&](int head, int token) {
      auto const to = place + head * a.C + token;
      a.to.decays.data[to] = chunk_sums::sum(s.sums, head, token);
      a.to.weights[to] = s.steps[head][token];
      if (a.to.slopes) a.to.slopes[to] = s.slopes[head][token];
    });
  }

 private:
  template <class Context>
  static TK_DEVICE void write_factors(Context& c, args const& a, task const& t) {
    auto const& s = c.scratch;
    float* const to =
        a.to.factors + (std::int64_t{t.block} * a.rows.h + t.head) * side_factors::count * a.C;
    chunk_sums::write(c.w, t, a.C, [&](int head, int token) {
      float const sum = chunk_sums::sum(s.sums, head, token),
                  all = chunk_sums::sum(s.sums, head, a.C - 1), step = s.steps[head][token];
      float* const of = to + head * side_factors::count * a.C + token;
      of[side_factors::decay * a.C] = sum;
      of[side_factors::weight * a.C] = step;
      of[side_factors::kept * a.C] = be::exp2(sum);
      of[side_factors::counted * a.C] = be::exp2(all - sum) * step;
    });
  }
  template <class Context>
  static TK_DEVICE void spread_skip(Context& c, args const& a, task const& t) {
    for (int i = c.w.lane(); i < t.heads * a.p; i += be::worker_lanes) {
      int const head = t.head + i / a.p, column = i % a.p;
      a.to.skip[head * a.p + column] = a.D.data[head * a.D.h_stride + column * a.D.p_stride];
    }
  }
};

template <class T> struct mamba2_steps_run {
  static void launch(steps_to_take const& x, void* stream);
};
template <class T> void mamba2_steps_run<T>::launch(steps_to_take const& x, void* stream) {
  be::launch<mamba2_steps<T>>(x, stream);
}

}  // namespace tk
