// SPDX-License-Identifier: MIT
// attention backward, the gradient of sinks:
//           dsinks[h] = -sum over b and i of exp(sink - lse) delta
// Shapes    lse (log2) and delta [b, heads, rows], as attention_backward_prepare leaves them; rows
//           of no query have delta 0. sinks, dsinks[heads].
// Numerics  fp32. A sink is a term of its row's lse: the exponent is at most 0, or what lse was
//           made less by beside dropout, but for rounding.
// Order     a head is one worker's: its lanes sum their columns in order, and then cross.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/random.hpp"
#include "core/rows.hpp"
#include "ops/attention/backward_plan.hpp"

namespace tk {

template <class T> struct attention_backward_sinks {
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1, N = 2048;
  using tile = reg_tile<T, 1, N>;
  struct stage {};
  struct own {};
  struct scratch {
    row_exchange<1> exchange;
  };
  using args = attention_backward_sums<T>;
  struct task {
    int head, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.heads; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    float const sink = a.sinks.data[t.head * a.sinks.h_stride] * log2_e,
                most = be::log2(kept_inverse(a.dropout));
    tile sum = 0.f, lse, delta;
    for (int batch = 0; batch < a.b; ++batch) {
      std::int64_t const at = (std::int64_t{batch} * a.heads + t.head) * a.rows;
      for (int row = 0; row < a.rows; row += N) {
        tk::load(lse, head_of(a.lse + at, a.rows), 4, 0, row);
        tk::load(delta, head_of(a.delta + at, a.rows), 4, 0, row);
        sum = sum + exp2(min(sink - lse, most)) * delta;
      }
    }
    int buffer = 0;
    auto const total = row_sum(c, sum, buffer);
    if (c.w.leader()) a.dsinks[t.head * a.dsinks_stride] = 0.f - total.e[0];
    rejoin<1, false>(c);
  }

 private:
  static TK_DEVICE tensor<T const> head_of(T const* x, int rows) { return {x, 1, rows, rows}; }
};

template <class T> struct attention_backward_sinks_run {
  static void launch(attention_backward_sums<T> const& x, void* stream);
};
template <class T>
void attention_backward_sinks_run<T>::launch(attention_backward_sums<T> const& x, void* stream) {
  be::launch<attention_backward_sinks<T>>(x, stream);
}

}  // namespace tk
