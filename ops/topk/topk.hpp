// SPDX-License-Identifier: MIT
// topk: the k largest numbers of each row, or the smallest, in order, and their columns.
// Shapes    x[outer, middle, rows, width]; values, indices[outer, middle, rows, k], either absent.
// Order     of values, and of columns where they are equal, by keys of 64 bits that are all
//           different: the result is exact, whatever the schedule.
// Source    a block has a row, which it reads once. Keys above the k-th largest so far go to shared
//           memory (WarpSelect, Johnson et al., arXiv 1702.08734); where that is full, and at the
//           end, the bitonic network sorts them (Batcher, "Sorting networks and their
//           applications", 1968), or std::partial_sort where a worker is one lane, and the k
//           largest stay.
#pragma once
#include <algorithm>
#include <functional>

#include "backends/kernel.hpp"
#include "core/rows.hpp"
#include "core/schedule.hpp"
#include "ops/topk/keys.hpp"
#include "ops/topk/problem.hpp"
#include "ops/topk/tuning.hpp"

namespace tk {

// Keys of one row in the shared memory of a block, of which the k largest are wanted. All lanes
// call. Op has `each`, keys in the scratch memory of a worker.
template <class Op, class Context> class best_keys {
 public:
  TK_DEVICE best_keys(Context& c, int k)
      : c_(c), k_(k), lane_(c.w.id() * be::worker_lanes + c.w.lane()) {
    if (lane_ == 0) added(0) = 0;
    meet<true>(c_);  // and all are done with the row before
  }
  TK_DEVICE int lane() const { return lane_; }
  TK_DEVICE int lanes() const { return workers_of(c_) * be::worker_lanes; }
  TK_DEVICE int room() const { return workers_of(c_) * Op::each; }

  // Only what is no less than the k-th largest of the lanes' own keys will do. Before any offer,
  // where that says enough.
  TK_DEVICE void begin_above(std::uint64_t own) {
    if (k_ > lanes() / 2) return;
    at(lane_) = own;
    sort(lanes());
    least_ = at(k_ - 1);
    if (least_ > 0) --least_;
    meet<true>(c_);
  }

  // Each lane brings keys: key(i) for each bit i of `left`, which are few, as a rule.
  template <class Key> TK_DEVICE void offer(std::uint32_t left, Key key) {
    for (;;) {
      unsigned number = 0;
      for_each_bit(left, [&](int i) {
        if (key(i) > least_) ++number;
        else left &= ~(1u << i);
      });
      int place = count_;
      if (number > 0) place += static_cast<int>(reserve(&added(turn_), number));
      for_each_bit(left, [&](int i) {
        if (place < room()) {
          at(place) = key(i);
          left &= ~(1u << i);
        }
        ++place;
      });
      // Of three counters one is used, one still read, and one made ready for the next turn.
      int const next = turn_ == 2 ? 0 : turn_ + 1;
      if (lane_ == 0) added(next) = 0;
      meet<true>(c_);
      count_ += static_cast<int>(added(turn_));
      turn_ = next;
      if (count_ <= room()) return;
      count_ = room();
      keep_best();
    }
  }

  // The largest of the lanes' own keys, which are all that there is.
  TK_DEVICE void only(std::uint64_t own) {
    at(lane_) = own;
    meet<true>(c_);
    int step = 1;
    while (step < lanes()) step *= 2;
    for (step /= 2; step > 0; step /= 2) {
      if (int const other = lane_ + step; lane_ < step && other < lanes())
        at(lane_) = at(lane_) > at(other) ? at(lane_) : at(other);
      meet<true>(c_);
    }
  }
  // Leaves the k largest, the largest first.
  TK_DEVICE void keep_best() {
    if constexpr (be::worker_lanes == 1 && Op::workers == 1) {
      std::uint64_t* const keys = &at(0);
      std::partial_sort(keys, keys + (k_ < count_ ? k_ : count_), keys + count_,
                        std::greater<std::uint64_t>{});
    } else {
      sort(count_);
    }
    if (count_ < k_) return;
    count_ = k_;
    least_ = at(k_ - 1);
  }
  TK_DEVICE std::uint64_t& at(int i) const { return c_.scratches[i / Op::each].keys[i % Op::each]; }

  TK_DEVICE std::uint64_t least() const { return least_; }

 private:
  template <class Body> static TK_DEVICE void for_each_bit(std::uint32_t bits, Body body) {
    TK_ROLL
    for (int i = 0; bits != 0; ++i, bits >>= 1)
      if (bits & 1) body(i);
  }
  TK_DEVICE unsigned& added(int turn) const { return c_.scratches[0].added[turn]; }

  // The first n, descending. Waits for what lanes have put there.
  TK_DEVICE void sort(int n) {
    int size = 1;
    while (size < n) size *= 2;
    for (int i = n + lane_; i < size; i += lanes()) at(i) = 0;
    meet<true>(c_);
    for (int run = 2; run <= size; run *= 2)
      for (int step = run / 2; step > 0; step /= 2) {
        for (int i = lane_; i < size / 2; i += lanes()) {
          int const low = 2 * i - (i & (step - 1)), high = low + step;
          bool const descending = (low & run) == 0;
          std::uint64_t const x = at(low), y = at(high);
          if ((x < y) == descending) at(low) = y, at(high) = x;
        }
        meet<true>(c_);
      }
  }

  Context& c_;
  int k_, lane_, count_ = 0, turn_ = 0;
  std::uint64_t least_ = 0;  // keys that are not larger don't count
};

template <class T> struct topk {
  static constexpr auto tune = be::tune_topk();
  static constexpr int workers = tune.workers, per_unit = tune.per_unit, cluster = 1, stages = 1,
                       own_slots = 1;
  // Keys in shared memory: as many again as may be wanted.
  static constexpr int each = 2 * most_of_a_row / workers;
  static constexpr int E = tune.chunks * chunk_of<T>, N = E * be::worker_lanes;
  static_assert(E <= 32 && each % be::worker_lanes == 0 && (each & (each - 1)) == 0);
  using tile = reg_tile<T, 1, N>;
  using map = be::fragment_map<1, N>;
  struct stage {};
  struct own {};
  struct scratch {
    std::uint64_t keys[each];
    unsigned added[4];
  };
  using args = topk_args;
  struct task {
    int row, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.rows; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  // Of a direct op: each has columns, and there is room for the keys.
  static TK_BOTH int workers_of(args const& a) {
    int const columns = ceil_div(a.width, N), keys = ceil_div(2 * a.k, each);
    int all = 1;  // a power of two, as what they sort
    while (all < workers && (all < columns || all < keys)) all *= 2;
    return all;
  }

  // A lane's columns of a row, from `col` on; those outside of the row have no key.
  struct part {
    tile x;
    T const* row;
    int col, width;
    ordered_key<T> order;
    TK_DEVICE part(tensor<T const> const& of, args const& a, int first)
        : row(of.data),
          col(first + map::lane_col(be::worker_lane())),
          width(a.width),
          order{a.flip} {
      tk::load(x, of, chunk_of<T>, 0, first);
    }
    TK_DEVICE bool inside(int i) const {
      return static_cast<unsigned>(col + map::col(i)) < static_cast<unsigned>(width);
    }
    // Whether a part that lies in one lane, all of it inside, has no rank of `least` or above:
    // compilers make SIMD of this.
    TK_DEVICE bool is_below(std::uint32_t least) const {
      if constexpr (be::worker_lanes > 1) return false;
      if (col < 0 || col + N > width) return false;
      std::uint32_t top = 0;
      auto const add = [&](std::uint32_t bits) {
        std::uint32_t const rank = order.rank(bits);
        top = rank > top ? rank : top;
      };
      for (auto const e : x.e) {
        if constexpr (sizeof(T) == 4) add(std::bit_cast<std::uint32_t>(e));
        else add(e << 16), add(e & 0xffff0000);
      }
      return top < least;
    }
    // The largest key; 0 where a look at ranks says that all are below `least`.
    TK_DEVICE std::uint64_t largest(std::uint64_t least = 0) const {
      if (is_below(static_cast<std::uint32_t>(least >> 32))) return 0;
      std::uint64_t most = 0;
      TK_UNROLL
      for (int i = 0; i < E; ++i) {
        std::uint64_t const key = order.of(upper_bits(x, i), col + map::col(i));
        if (inside(i) && key > most) most = key;
      }
      return most;
    }
    // A bit for each key that may be above `least`, of numbers alone where columns don't tell.
    TK_DEVICE std::uint32_t above(std::uint64_t least) const {
      auto const limit = static_cast<std::uint32_t>(least >> 32);
      if (is_below(limit)) return 0;
      bool const equal = least == 0 || ordered_key<T>::column(least) > col;
      std::uint32_t bits = 0;
      TK_UNROLL
      for (int i = 0; i < E; ++i) {
        std::uint32_t const rank = order.rank(upper_bits(x, i));
        if (inside(i) && (rank > limit || (equal && rank == limit))) bits |= 1u << i;
      }
      return bits;
    }
    // Read again from where it lies: keys of all would not fit into registers.
    TK_DEVICE std::uint64_t key(int i) const {
      int const at = col + map::col(i);
      return order.of(bits_of_element(row[at]) << (32 - 8 * sizeof(T)), at);
    }
  };

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    T const* const row = a.row_of<T const>(a.x, t.row);
    tensor<T const> const x{row, 1, a.width, 0};
    // Columns begin at the boundary of 16 bytes before the row.
    int const shift = shift_of(row), across = tk::workers_of(c) * N;
    int const parts = ceil_div(a.width + shift, across);
    best_keys<topk, Context> best(c, a.k);
    std::uint64_t largest = 0;
    for (int i = 0; i < parts; ++i) {
      part const p(x, a, (a.k == 1 ? i : place_of(i, parts)) * across + c.w.id() * N - shift);
      if (a.k == 1) {
        std::uint64_t const own = p.largest(largest);
        largest = own > largest ? own : largest;
        continue;
      }
      if (i == 0 && a.width > best.lanes()) best.begin_above(p.largest());
      best.offer(p.above(best.least()), [&](int e) { return p.key(e); });
    }
    if (a.k == 1) best.only(largest);
    else best.keep_best();
    for (int i = best.lane(); i < a.k; i += best.lanes()) {
      int const col = ordered_key<T>::column(best.at(i));
      if (a.values.data) a.row_of<T>(a.values, t.row)[i] = row[col];
      a.put_index(t.row, i, col);
    }
  }

 private:
  // Parts in the order in which they are read: the last whole one first, so that of ascending rows,
  // too, few keys are above the largest so far.
  static TK_DEVICE int place_of(int i, int parts) {
    if (i == parts - 1) return i;
    return i == 0 ? parts - 2 : i - 1;
  }
};

}  // namespace tk
