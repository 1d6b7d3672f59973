// SPDX-License-Identifier: MIT
// The states that segments begin with, from their sums, and the sums of moments likewise.
#pragma once
#include "ops/based/based_scan.hpp"
#include "ops/linear_attention/segment_states.hpp"

namespace tk {

template <class T, bool Normalises>
struct based_segment_scan : segment_workers<based_scan_sizes<T>::workers> {
  using sizes = based_scan_sizes<T>;
  using args = typename sizes::args;
  using base = segment_workers<sizes::workers>;
  static constexpr int C = sizes::C, F = sizes::F, segment = sizes::segment;
  // A worker has a slice of a unit's state, whose numbers it takes in the order of memory.
  using slice = partial_tiles<sizes::P, 16>;
  static constexpr int slices = F / 16;
  struct scratch {};

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
    int const n = a.rows.sequence(sequence).n, last = cut.last_start(n),
              first = a.rows.first_block(sequence, segment * C);
    scan_segments(
        slice{a.states.data}, last,
        [&](int i) { return sizes::state_of(a, first + i, head, 0) * slices + of; },
        [&](int i) { return cut.begins_in(i, n); });
    if constexpr (Normalises) {
      if (of % slices > 0) return;
      for (int n = c.w.lane(); n < F; n += be::worker_lanes)
        scan_segment_sums(last, [&](int i) -> float& {
          return a.sums[sizes::state_of(a, first + i, head, of / slices) * F + n];
        });
    }
  }
};

}  // namespace tk
