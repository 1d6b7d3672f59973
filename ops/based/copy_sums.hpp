// SPDX-License-Identifier: MIT
// Initial sums of moments, copied: where a head has several units, whoever is done first may write
// the final ones to the same memory while others have not begun.
#pragma once
#include "backends/kernel.hpp"
#include "ops/based/plan.hpp"
#include "ops/linear_attention/lone_worker.hpp"

namespace tk {

struct based_copy_sums : lone_worker {
  struct scratch {};
  struct args {
    moment_sums from;
    float* to;  // [b, h, 153]
    int b, h;
  };
  struct task {
    int sequence, head, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.b * a.h; }
  static TK_BOTH task task_at(args const& a, int i, int) { return {i / a.h, i % a.h, 0}; }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    constexpr int count = based_moments::count;
    float const* const from = a.from.data + t.sequence * a.from.b_stride + t.head * a.from.h_stride;
    float* const to = a.to + (std::int64_t{t.sequence} * a.h + t.head) * count;
    for (int i = c.w.lane(); i < count; i += be::worker_lanes) to[i] = from[i];
  }
};

}  // namespace tk
