// SPDX-License-Identifier: MIT
// The states that segments begin with, from their sums (chunk_scan.hpp).
#pragma once
#include "ops/linear_attention/chunk_scan_sizes.hpp"
#include "ops/linear_attention/segment_states.hpp"

namespace tk {

template <class T, int D, class Family, bool Decays>
struct segment_scan : segment_workers<chunk_scan_sizes<T, D, Family>::workers> {
  using sizes = chunk_scan_sizes<T, D, Family>;
  using args = typename sizes::args;
  using base = segment_workers<sizes::workers>;
  static constexpr int C = sizes::C, segment = sizes::segment;
  // A worker has a slice of a unit's state.
  using slice = partial_tiles<64, 16>;
  static constexpr int slices = D * sizes::P / (64 * 16);
  struct scratch {
    float kept[segments_at_once];
  };
  static TK_BOTH int of_head(args const& a) { return a.units * slices; }
  static TK_BOTH int count(args const& a) { return a.rows.b * a.rows.h * of_head(a); }
  static TK_BOTH int tasks(args const& a) { return ceil_div(count(a), base::workers); }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const nth = t.first + c.w.id();
    if (nth >= count(a)) return;
    int const of = nth % of_head(a), heads = nth / of_head(a), head = heads % a.rows.h,
              sequence = heads / a.rows.h;
    auto const cut = sizes::cut(a);
    int const n = a.rows.sequence(sequence).n, all = cut.segments(n), last = cut.last_start(n),
              first = a.rows.first_block(sequence, segment * C);
    auto const nth_segment = [&](int i) { return a.reversed ? all - 1 - i : i; };
    scan_segments(
        slice{a.states.data}, last,
        [&](int i) { return sizes::state_of(a, first + nth_segment(i), head, 0) * slices + of; },
        [&](int i) { return cut.begins_in(i, n); },
        [&](int i) {
          if constexpr (Decays) {
            c.w.sync();  // all have read those before
            for (int k = c.w.lane(); k < segments_at_once && i + k < last; k += be::worker_lanes)
              c.scratch.kept[k] = kept_over(a, sequence, head, n, nth_segment(i + k));
            c.w.sync();
          }
        },
        [&](int i) { return Decays ? c.scratch.kept[i % segments_at_once] : 1.f; });
  }

 private:
  // The factors of the chunks of a segment, in their order; they are read together.
  static TK_DEVICE float kept_over(args const& a, int sequence, int head, int n, int s) {
    int const chunks = ceil_div(n, C), first = s * segment;
    int const count = chunks - first < segment ? chunks - first : segment;
    int const block = a.rows.first_block(sequence, C) + first;
    float log2_of[segment];
    TK_UNROLL
    for (int i = 0; i < segment; ++i) {
      int const nth = a.reversed ? count - 1 - i : i;
      log2_of[i] = 0;
      if (i < count)
        log2_of[i] = a.decays.data[a.decays.row(block + nth, head, a.rows.h, C) +
                                   sizes::tokens(n, first + nth) - 1];
    }
    float kept = 1;
    TK_UNROLL
    for (int i = 0; i < segment; ++i) kept *= be::exp2(log2_of[i]);
    return kept;
  }
};

}  // namespace tk
