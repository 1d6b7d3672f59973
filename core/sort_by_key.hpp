// SPDX-License-Identifier: MIT
// sort_by_key: n numbers sorted by their keys, equal keys in the order in which they came, by
// digits of the keys, the least first (Knuth, The Art of Computer Programming 3, 5.2.5). Each pass
// counts the digits of runs of 1024 items, adds up these counts, and moves the items; no atomics,
// and the same result whatever runs at a time.
//   sort_by_key(from, n, limit, memory, stream)
//            from.key(i) < limit and from.number(i) are those of item i; n and limit are below
//            2^31. Returns where the sorted keys and numbers will be, in one of memory's two
//            places; `from` is read by the first pass alone. Nothing is launched where n is 0.
// core/sort_memory.hpp says how much memory that takes.
// A lane has a run of each unit, and counts its digits by itself:
//   (unit u, lane l) -> items 1024 u + each l ... + each - 1, each = 1024 / lanes
#pragma once
#include "backends/kernel.hpp"
#include "core/sort_memory.hpp"

namespace tk {

template <class X>
concept keyed_items = requires(X const& x) {
  { x.key(0) } -> std::same_as<std::uint32_t>;
  { x.number(0) } -> std::same_as<std::int32_t>;
};

namespace sorting {

constexpr int each = unit / be::worker_lanes, at_once = each < 8 ? each : 8;
static_assert(each % at_once == 0);

// One pass, by digits of some bits.
template <class From> struct pass {
  From from;
  sorted_items to;
  int n, shift, digits;
  // counts[digit][unit]: how many there are in the unit; then, in units before it.
  std::int32_t *counts, *totals;  // totals[digit]: in all

  TK_BOTH int units() const { return ceil_div(n, unit); }
  TK_BOTH int digit(std::uint32_t key) const {
    return static_cast<int>(key >> shift) & (digits - 1);
  }
};

// How many of each digit a lane has; columns are apart by an odd number of words, so that lanes
// which read one digit each meet no other's bank.
struct lane_counts {
  std::uint16_t of[most_digits][be::worker_lanes + 2];
};

// body(i, key) for the lane's items in order, some of which are asked for at a time.
template <class Args, class Body>
TK_DEVICE void for_each_item(Args const& a, int unit_index, int lane, Body body) {
  int const first = unit_index * unit + lane * each;
  for (int k = 0; k < each && first + k < a.n; k += at_once) {
    std::uint32_t key[at_once];
    TK_UNROLL
    for (int j = 0; j < at_once; ++j) key[j] = first + k + j < a.n ? a.from.key(first + k + j) : 0;
    TK_UNROLL
    for (int j = 0; j < at_once; ++j)
      if (first + k + j < a.n) body(first + k + j, key[j]);
  }
}
template <class Args>
TK_DEVICE void count_lane(lane_counts& counts, Args const& a, int unit_index, int lane) {
  for (int d = 0; d < a.digits; ++d) counts.of[d][lane] = 0;
  for_each_item(a, unit_index, lane,
                [&](int, std::uint32_t key) { ++counts.of[a.digit(key)][lane]; });
}

// What the three kernels of a pass have in common: they move nothing by slots.
template <class From> struct kernel {
  static constexpr int cluster = 1, stages = 1, own_slots = 1;
  struct stage {};
  struct own {};
  using args = pass<From>;
  struct task {
    int index, steps;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
};

// A worker has a unit.
template <class From> struct count_digits : kernel<From> {
  using typename kernel<From>::args;
  using typename kernel<From>::task;
  static constexpr int workers = be::worker_lanes == 1 ? 1 : 2;
  struct scratch {
    lane_counts counts;
  };
  static TK_BOTH int tasks(args const& a) { return ceil_div(a.units(), workers); }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const at = t.index * workers + c.w.id(), units = a.units(), lane = c.w.lane();
    if (at >= units) return;
    auto& counts = c.scratch.counts;
    count_lane(counts, a, at, lane);
    c.w.sync();
    for (int d = lane; d < a.digits; d += be::worker_lanes) {
      int sum = 0;
      for (int l = 0; l < be::worker_lanes; ++l) sum += counts.of[d][l];
      a.counts[d * units + at] = sum;
    }
    c.w.sync();
  }
};

// A task has a digit, and a lane a run of its units.
template <class From> struct add_counts : kernel<From> {
  using typename kernel<From>::args;
  using typename kernel<From>::task;
  static constexpr int workers = 1;
  struct scratch {
    int sums[be::worker_lanes];
  };
  static TK_BOTH int tasks(args const& a) { return a.digits; }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const units = a.units(), lane = c.w.lane(), run = ceil_div(units, be::worker_lanes);
    int const first = lane * run < units ? lane * run : units,
              last = first + run < units ? first + run : units;
    auto* const counts = a.counts + t.index * units;
    int sum = 0;
    for (int i = first; i < last; ++i) sum += counts[i];
    c.scratch.sums[lane] = sum;
    c.w.sync();
    int before = 0;
    for (int l = 0; l < lane; ++l) before += c.scratch.sums[l];
    for (int i = first; i < last; ++i) {
      int const count = counts[i];
      counts[i] = before;
      before += count;
    }
    if (lane == be::worker_lanes - 1) a.totals[t.index] = before;
    c.w.sync();
  }
};

// A worker has a unit again, and puts each item behind those of smaller digits, of units before it,
// of lanes before, and of this lane.
template <class From> struct move_items : kernel<From> {
  using typename kernel<From>::args;
  using typename kernel<From>::task;
  static constexpr int workers = count_digits<From>::workers;
  struct scratch {
    lane_counts counts;
    int totals[most_digits], begin[most_digits];
  };
  static TK_BOTH int tasks(args const& a) { return ceil_div(a.units(), workers); }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const at = t.index * workers + c.w.id(), units = a.units(), lane = c.w.lane();
    if (at >= units) return;
    auto& s = c.scratch;
    count_lane(s.counts, a, at, lane);
    for (int d = lane; d < a.digits; d += be::worker_lanes) s.totals[d] = a.totals[d];
    c.w.sync();
    for (int d = lane; d < a.digits; d += be::worker_lanes) {
      int begin = a.counts[d * units + at], before = 0;
      for (int smaller = 0; smaller < d; ++smaller) begin += s.totals[smaller];
      s.begin[d] = begin;
      for (int l = 0; l < be::worker_lanes; ++l) {
        int const count = s.counts.of[d][l];
        s.counts.of[d][l] = static_cast<std::uint16_t>(before);
        before += count;
      }
    }
    c.w.sync();
    for_each_item(a, at, lane, [&](int i, std::uint32_t key) {
      int const d = a.digit(key), to = s.begin[d] + s.counts.of[d][lane]++;
      a.to.keys[to] = key;
      a.to.numbers[to] = a.from.number(i);
    });
  }
};

template <class From> void launch(pass<From> const& x, void* stream) {
  be::launch<count_digits<From>>(x, stream);
  be::launch<add_counts<From>>(x, stream);
  be::launch<move_items<From>>(x, stream);
}

}  // namespace sorting

template <keyed_items From>
sorted_items sort_by_key(From const& from, int n, std::uint32_t limit, sort_memory const& memory,
                         void* stream) {
  int const passes = sort_passes(limit), bits = ceil_div(sort_bits(limit), passes);
  auto* const counts = memory.counts + sorting::most_digits;
  for (int i = 0; n > 0 && i < passes; ++i) {
    auto const run = [&](auto const& source) {
      sorting::launch(sorting::pass{source, memory.places[i % 2], n, i * bits, 1 << bits, counts,
                                    memory.counts},
                      stream);
    };
    if (i == 0) run(from);
    else run(memory.places[(i - 1) % 2]);
  }
  return memory.places[(passes - 1) % 2];
}

}  // namespace tk
