// SPDX-License-Identifier: MIT
// Running sums of log2 decays within chunks, for ops/linear_attention/chunk_scan.hpp. A task has a
// chunk of all heads, a lane some of them. A factor below 2^-160 counts as 2^-160, which nothing
// survives: what came before is not there any more, and sums stay exact to a thousandth.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "ops/linear_attention/plan.hpp"

namespace tk {

template <class T> struct chunk_decays {
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1;
  static constexpr float least = -160;
  struct stage {};
  struct own {};
  struct scratch {};
  using args = decays_to_sum<T>;
  struct task {
    int sequence, chunk, block, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.to.constant ? 1 : a.rows.blocks(a.C); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    if (a.to.constant) return {};
    int const s = a.rows.sequence_of(i, a.C);
    return {s, i - a.rows.first_block(s, a.C), i, 0};
  }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    scan_rows::place at{0, 0, a.C};
    if (!a.to.constant) at = a.rows.sequence(t.sequence);
    int const left = at.n - t.chunk * a.C, tokens = left < a.C ? left : a.C;
    if (tokens <= 0) return;
    float const sign = a.to.constant ? -log2_e : log2_e;
    for (int head = c.w.lane(); head < a.rows.h; head += be::worker_lanes) {
      T const* const from = a.from + at.batch * a.b_stride +
                            (std::int64_t{at.first} + t.chunk * a.C) * a.n_stride +
                            head * a.h_stride;
      float* const to = a.to.data + a.to.row(t.block, head, a.rows.h, a.C);
      float sum = 0;
      for (int i = 0; i < a.C; ++i) {
        if (i < tokens) {
          float const x = from[i * a.n_stride] * sign;
          sum += x < least ? least : x;
        }
        to[i] = sum;
      }
    }
  }
};

template <class T> struct chunk_decays_run {
  static void launch(decays_to_sum<T> const& x, void* stream);
};
template <class T> void chunk_decays_run<T>::launch(decays_to_sum<T> const& x, void* stream) {
  be::launch<chunk_decays<T>>(x, stream);
}

}  // namespace tk
