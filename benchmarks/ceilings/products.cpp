// SPDX-License-Identifier: MIT
// Products of shared tiles without movement: the rate of the chip's matrix units as TK's words
// reach them. Tiles are those of a large gemm; two products run at a time, as there.
#include "backends/kernel.hpp"
#include "benchmarks/ceilings/rates.hpp"
#include "core/product.hpp"
#include "core/reduce.hpp"
#include "ops/gemm/tuning.hpp"

namespace tk::bench {
namespace {

struct products {
  static constexpr auto tune = be::tune_gemm(0);
  static constexpr int workers = tune.workers(), cluster = 1, stages = 1, own_slots = 1, M = tune.M,
                       N = tune.N, K = tune.K;
  struct stage {
    shared_tile<bf16, M, K> a[workers];
    shared_tile<bf16, K, N> b;
  };
  struct own {};
  struct scratch {};
  struct args {
    be::source<bf16, M, K> a;
    be::source<bf16, K, N> b;
    float* out;
    int count, repeats;
  };
  struct task {
    int index, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.count; }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 1}; }
  static TK_DEVICE void load(stage& s, args const& a, task const&, int, be::arrival done) {
    for (int w = 0; w < workers; ++w) load_async(s.a[w], window(a.a, w * M, 0), done);
    load_async(s.b, window(a.b, 0, 0), done);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, M, N> sum = 0.f;
    stage& s = c.in.take();
    for (int i = 0; i < a.repeats; ++i) {
      mma_ab(sum, s.a[c.w.id()], s.b);
      wait<1>();
    }
    wait<0>(sum);
    c.in.release();
    store(a.out + (t.index * workers + c.w.id()) * M, row_sum(sum), M);
  }
};

}  // namespace

rate_shape shape_of_products() {
  return {products::workers, products::M, products::N, products::K};
}

void launch_products(void const* a, void const* b, float* out, int tasks, int repeats) {
  constexpr int M = products::M, N = products::N, K = products::K;
  tensor<bf16 const> const left{static_cast<bf16 const*>(a), products::workers * M, K, K};
  tensor<bf16 const> const right{static_cast<bf16 const*>(b), K, N, N};
  products::args x{};
  x.a = be::read_from<M, K>(left);
  x.b = be::read_from<K, N>(right);
  x.out = out;
  x.count = tasks;
  x.repeats = repeats;
  be::launch<products>(x, nullptr);
}

}  // namespace tk::bench
