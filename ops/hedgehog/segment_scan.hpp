// SPDX-License-Identifier: MIT
// The states that segments of Hedgehog's scan begin with.
#pragma once
#include "ops/hedgehog/hedgehog_sizes.hpp"

namespace tk {

// From the sums of segments to what they begin with, in place: a worker has P columns of a head.
template <class T> struct hedgehog_segment_scan {
  using sizes = hedgehog_sizes<T>;
  using args = typename sizes::args;
  static constexpr int workers = sizes::workers, cluster = 1, stages = 1, own_slots = 1,
                       D = sizes::D, P = sizes::P;
  struct stage {};
  struct own {};
  struct scratch {};
  struct task {
    int sequence, head, part, steps;
  };
  static TK_BOTH int tasks(args const& a) { return a.rows.keys.b * a.rows.keys.h * sizes::parts; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const h = a.rows.keys.h;
    return {i / (sizes::parts * h), i / sizes::parts % h, i % sizes::parts, 0};
  }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto const& keys = a.rows.keys;
    int const blocks = ceil_div(a.rows.sequence(t.sequence).n, sizes::C),
              segments = blocks > 0 ? ceil_div(blocks, hedgehog_segment) : 1,
              first = keys.first_block(t.sequence, hedgehog_segment * sizes::C),
              col = t.part * sizes::V + c.w.id() * P;
    reg_tile<float, D, P> start, sum;
    sizes::begin(start, a, t.sequence, t.head, col);
    for (int i = 0; i < segments; ++i) {
      auto const at = sizes::state_of(a, first + i, t.head, col);
      if (i + 1 < segments) tk::load(sum, a.states, at);
      tk::store(a.states, at, start);
      if (i + 1 < segments) start = start + sum;
    }
    if (col > 0) return;
    for (int n = c.w.lane(); n < D; n += be::worker_lanes) {
      float from = a.initial_sums.data ? a.initial_sums.at(t.sequence, t.head)[n] : 0.f;
      for (int i = 0; i < segments; ++i) {
        float& z = sizes::sums_of(a, first + i, t.head)[n];
        float const of_segment = i + 1 < segments ? z : 0.f;
        z = from;
        from += of_segment;
      }
    }
  }
};

}  // namespace tk
