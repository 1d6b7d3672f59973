// SPDX-License-Identifier: MIT
// What a block keeps: filled once by all its workers, there for every task, for products and for
// lanes, and never filled again; and what its workers leave one another there.
#include "core/tile_runs.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

// out[task] = the worker's own x times the resident tile, y[task] = resident numbers.
template <int Workers> struct keeps : simple_op {
  static constexpr int workers = Workers, R = be::worker_rows, C = 32;
  struct resident {
    shared_tile<fp16, C, C> tile;
    int numbers[Workers];
    int filled[Workers];  // how often
    int said[Workers];    // to the others, in each task
  };
  struct args {
    int cases;
    float const* x;
    float* out;    // [cases, workers, R, C]
    int* numbers;  // [cases, workers]
    int* filled;   // by all blocks
    int* heard;    // [cases, workers]
    int* ran;
  };
  // Element (r, c) is r - 2 c, of a half by each lane of the workers.
  template <class Worker>
  static TK_DEVICE void fill_resident(Worker const& w, resident& r, args const& a) {
    fill_runs(r.tile, w.id() * be::worker_lanes + w.lane(), Workers * be::worker_lanes,
              [](int row, int col) {
                run_of_eight y;
                TK_UNROLL
                for (int i = 0; i < 8; ++i) y.x[i] = static_cast<float>(row - 2 * (col + i));
                return y;
              });
    if (!w.leader()) return;
    r.numbers[w.id()] = 100 + w.id();
    reserve(reinterpret_cast<unsigned*>(&a.filled[w.id()]), 1);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, R, C> x, y;
    read_tile(x, a.x, c.w.id());
    reg_tile<fp16, R, C> const left = cast<fp16>(x);
    mm_ab(y, left, c.resident.tile);
    wait<0>(y);
    int const at = t.index * Workers + c.w.id();
    write_tile<float>(a.out, at, y * 1.f);
    int const other = Workers - 1 - c.w.id();
    if (c.w.leader()) a.numbers[at] = c.resident.numbers[other];
    if (c.w.leader()) c.resident.said[c.w.id()] = at + 1;
    c.all.arrive();
    c.all.await();
    if (c.w.leader()) a.heard[at] = c.resident.said[other];
    c.all.arrive();
    c.all.await();
    report(c, a, t.index);
  }
};

template <int Workers> void check_kept(int tasks) {
  using op = keeps<Workers>;
  constexpr int R = op::R, C = op::C;
  auto const x = wholes(at(Workers * R * C), 5, 3);
  device_array<float> const dx(x), out(untouched<float>(at(tasks * Workers * R * C)));
  device_array<int> const numbers(untouched<int>(at(tasks * Workers))), filled(at(Workers)),
      heard(untouched<int>(at(tasks * Workers)));
  run<op>({tasks, dx.data(), out.data(), numbers.data(), filled.data(), heard.data(), nullptr});
  std::vector<float> expected;
  std::vector<int> of_workers, of_others;
  for (int i = 0; i < tasks; ++i)
    for (int w = 0; w < Workers; ++w) {
      of_workers.push_back(100 + Workers - 1 - w);
      of_others.push_back(i * Workers + Workers - w);
      for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
          float sum = 0;
          for (int k = 0; k < C; ++k)
            sum += x[at((w * R + r) * C + k)] * static_cast<float>(k - 2 * c);
          expected.push_back(sum);
        }
    }
  check_same(out.read(), expected);
  check_same(numbers.read(), of_workers);
  check_same(heard.read(), of_others);
  // Once by each worker of each block, of which there are fewer than tasks.
  auto const times = filled.read();
  for (int w = 0; w < Workers; ++w) {
    CHECK(times[at(w)] == times[0]);
    CHECK(times[at(w)] > 0);
    CHECK(times[at(w)] < tasks);
  }
}

TEST_CASE("a block keeps what its workers fill once") {
  int const tasks = tasks_at_least(20);
  expect_cases const counted(3 * tasks);
  check_kept<1>(tasks);
  check_kept<2>(tasks);
  check_kept<3>(tasks);
}

}  // namespace tk::test
