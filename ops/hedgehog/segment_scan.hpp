// SPDX-License-Identifier: MIT
// The states that segments begin with, from their sums, and the sums of features likewise.
#pragma once
#include "ops/hedgehog/hedgehog_sizes.hpp"
#include "ops/linear_attention/segment_states.hpp"

namespace tk {

template <class T>
struct hedgehog_segment_scan : segment_workers<hedgehog_sizes<T>::block_workers> {
  using sizes = hedgehog_sizes<T>;
  using args = typename sizes::args;
  // A worker has a slice of a head's state, whose numbers it takes in the order of memory.
  using slice = partial_tiles<64, 16>;
  using base = segment_workers<sizes::block_workers>;
  static constexpr int D = sizes::D, slices = D * D / (64 * 16), units = D * sizes::P / (64 * 16);
  struct scratch {};
  static TK_BOTH int count(args const& a) { return a.rows.keys.b * a.rows.keys.h * slices; }
  static TK_BOTH int tasks(args const& a) { return ceil_div(count(a), base::workers); }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const nth = t.first + c.w.id();
    if (nth >= count(a)) return;
    auto const& keys = a.rows.keys;
    int const of = nth % slices, head = nth / slices % keys.h, sequence = nth / (slices * keys.h);
    auto const cut = sizes::cut(a);
    int const n = a.rows.sequence(sequence).n, last = cut.last_start(n),
              first = keys.first_block(sequence, hedgehog_segment * sizes::C);
    scan_segments(
        slice{a.states.data}, last,
        [&](int i) { return sizes::state_of(a, first + i, head, 0) * units + of; },
        [&](int i) { return cut.begins_in(i, n); });
    if (of > 0) return;
    for (int n = c.w.lane(); n < D; n += be::worker_lanes)
      scan_segment_sums(last,
                        [&](int i) -> float& { return sizes::sums_of(a, first + i, head)[n]; });
  }
};

}  // namespace tk
