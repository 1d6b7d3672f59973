// SPDX-License-Identifier: MIT
// exp2 over register tiles and nothing else: the rate of the special-function unit. The sign in
// x <- 2^-x keeps x near its fixed point 0.6412; it costs no instruction where operands can be
// negated.
#include "backends/kernel.hpp"
#include "benchmarks/ceilings/rates.hpp"
#include "core/expression.hpp"
#include "core/reduce.hpp"
#include "ops/attention/tuning.hpp"

namespace tk::bench {

// Not in an unnamed namespace: where nothing is taken from the ring, no backend need call load.
struct exponentials {
  static constexpr auto tune = be::tune_attention_forward(128);
  static constexpr int workers = tune.workers, cluster = 1, stages = 1, own_slots = 1, M = tune.M,
                       N = 64;
  struct stage {};
  struct own {};
  struct scratch {};
  struct args {
    float* out;
    int count, repeats;
  };
  struct task {
    int index, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.count; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, M, N> x = 0.f;
    for (int i = 0; i < a.repeats; ++i) x = exp2(-x);
    store(a.out + (t.index * workers + c.w.id()) * M, row_sum(x), M);
  }
};

rate_shape shape_of_exponentials() {
  return {exponentials::workers, exponentials::M, exponentials::N, 0};
}

void launch_exponentials(float* out, int tasks, int repeats) {
  exponentials::args x{};
  x.out = out;
  x.count = tasks;
  x.repeats = repeats;
  be::launch<exponentials>(x, nullptr);
}

}  // namespace tk::bench
