// SPDX-License-Identifier: MIT
// The offsets of packed sequences, made ascending and cut off at both ends: y[i] is the largest of
// x[0 ... i], within 0 and the total. Kernels whose blocks wait for one another count on that.
#pragma once
#include "backends/kernel.hpp"
#include "core/schedule.hpp"
#include "ops/attention/backward_plan.hpp"

namespace tk {

template <class T> struct ascending_starts {
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1;
  struct stage {};
  struct own {};
  struct scratch {
    T top[2][be::worker_lanes];  // of each task
  };
  using args = packed_starts<T>;
  struct task {
    int which, steps;
  };

  static TK_BOTH int tasks(args const&) { return 2; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  // Each lane has a run of them, and the largest of all lanes before it.
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const lane = c.w.lane(), each = ceil_div(a.count, be::worker_lanes), first = lane * each;
    int const last = first + each < a.count ? first + each : a.count;
    auto const* const from = a.from[t.which];
    int const total = a.total[t.which];
    auto const larger = [&](T top, int i) {
      T const x = from[i] < total ? from[i] : total;
      return x > top ? x : top;
    };
    T top = 0;
    for (int i = first; i < last; ++i) top = larger(top, i);
    auto& tops = c.scratch.top[t.which];
    tops[lane] = top;
    c.w.sync();
    top = 0;
    for (int other = 0; other < lane; ++other)
      if (tops[other] > top) top = tops[other];
    for (int i = first; i < last; ++i) a.to[t.which][i] = top = larger(top, i);
  }
};

template <class T> struct packed_starts_run {
  static void launch(packed_starts<T> const& x, void* stream);
};
template <class T> void packed_starts_run<T>::launch(packed_starts<T> const& x, void* stream) {
  be::launch<ascending_starts<T>>(x, stream);
}

}  // namespace tk
