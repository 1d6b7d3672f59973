// SPDX-License-Identifier: MIT
// Blocks of a cluster walk their tasks together: each has its own rank, tile and steps in order,
// and a tile that all want is fetched in shares. A chip without clusters has one block in each.
#include "tests/contract/support.hpp"

namespace tk::test {

template <class T, int Cluster, int C> struct shared_between : simple_op {
  static constexpr int cluster = Cluster, workers = 2, stages = 3, R = 64;
  struct stage {
    shared_tile<T, R, C> all;
    shared_tile<T, M, C> mine[2];
  };
  struct args {
    int cases;
    be::source<T, R / Cluster, C> all;  // [task, step]
    be::source<T, M, C> mine;           // rows of 2 workers of each rank; [task, step]
    float *products, *tiles;
    int* ran;
  };
  struct task {
    int index, rank, steps;
  };
  static TK_BOTH task task_at(args const&, int i, int rank) { return {i, rank, i % 6}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_shared(s.all, window(a.all, 0, 0, t.index, step), done);
    for (int w = 0; w < 2; ++w)
      load_async(s.mine[w], window(a.mine, (t.rank * 2 + w) * M, 0, t.index, step), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, M, R> product = 0.f;
    reg_tile<float, M, C> sum = 0.f;
    reg_tile<T, M, C> x;
    for (int step = 0; step < t.steps; ++step) {
      stage& s = k.in.take();
      mma_abt(product, s.mine[k.w.id()], s.all);
      wait<0>(product);
      tk::load(x, s.mine[k.w.id()]);
      sum = sum + x;
      k.w.sync();
      k.in.release();
    }
    int const block = t.index * Cluster + t.rank;
    write_tile(a.products, block * 2 + k.w.id(), product);
    write_tile(a.tiles, block * 2 + k.w.id(), sum);
    report(k, a, block);
  }
};

template <class T, int Cluster, int C> void check_cluster(bool aligned) {
  using op = shared_between<T, Cluster, C>;
  constexpr int tasks = 11, steps = 5, R = op::R, rows = Cluster * 2 * M;
  expect_cases const counted(tasks * Cluster);
  int const pitch = C + !aligned;
  auto const all = wholes<T>(at(tasks * steps * R * pitch), 1);
  auto const mine = wholes<T>(at(tasks * steps * rows * pitch), 2);
  device_array<T> const dall(all), dmine(mine);
  device_array<float> const products(untouched<float>(tasks * rows * R)),
      tiles(untouched<float>(tasks * rows * C));
  auto const view = [&](T* p, int height) {
    return tensor<T const>{p,     height,        C, pitch, tasks, steps * height * pitch,
                           steps, height * pitch};
  };
  run<op>({tasks, be::read_from<R / Cluster, C>(view(dall.data(), R)),
           be::read_from<M, C>(view(dmine.data(), rows)), products.data(), tiles.data(), nullptr});
  std::vector<float> expected_products(tasks * rows * R), expected_tiles(tasks * rows * C);
  for (int task = 0; task < tasks; ++task)
    for (int step = 0; step < task % 6; ++step)
      for (int r = 0; r < rows; ++r)
        for (int i = 0; i < C; ++i) {
          int const plane = task * steps + step;
          float const x = tk::widen(mine[at((plane * rows + r) * pitch + i)]);
          expected_tiles[at((task * rows + r) * C + i)] += x;
          for (int n = 0; n < R; ++n)
            expected_products[at((task * rows + r) * R + n)] +=
                x * tk::widen(all[at((plane * R + n) * pitch + i)]);
        }
  check_same(products.read(), expected_products);
  check_same(tiles.read(), expected_tiles);
}

// The same for as many blocks as the chip allows.
template <class T, int Cluster, int C> int check_if_possible(bool aligned) {
  if constexpr (Cluster <= be::max_cluster) {
    check_cluster<T, Cluster, C>(aligned);
    return Cluster;
  } else {
    return 0;
  }
}

TEST_CASE("blocks of a cluster share what they load") {
  int blocks = 0;
  for (bool const aligned : {true, false}) {
    CAPTURE(aligned);
    blocks += check_if_possible<bf16, 1, 64>(aligned);
    blocks += check_if_possible<bf16, 2, 128>(aligned);
    blocks += check_if_possible<fp16, 2, 48>(aligned);
    blocks += check_if_possible<fp16, 4, 32>(aligned);
  }
  CHECK(blocks == 2 * (be::max_cluster > 1 ? 1 + 2 + 2 + 4 : 1));
}

}  // namespace tk::test
