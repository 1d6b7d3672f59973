// SPDX-License-Identifier: MIT
// What the softmax of attention needs of a tile in one pass: cast_with_sum, as cast and as
// row_sum_share give them; any_above and where_above, by row and within a warp; and take_over, for
// a left operand that is written while products read the last one.
#include "core/reduce.hpp"
#include "tests/contract/support.hpp"

#include "tests/core/shapes.hpp"

namespace tk::test {

template <class T, int R, int C> struct weigh : simple_op {
  struct args {
    int cases;
    float const* x;
    T* tiles;    // of each task: as cast_with_sum casts, as cast does
    float* out;  // of each task, two columns: the sums of shares
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    read_tile(x, a.x, t.index);
    reg_tile<T, R, C> p, q;
    auto const share = cast_with_sum(p, x * 0.5f + 3.f);
    x = x * 0.5f + 3.f;
    q = cast<T>(x);
    write_tile(a.tiles, 2 * t.index, p);
    write_tile(a.tiles, 2 * t.index + 1, q);
    store(a.out + t.index * 2 * R, total(share), R);
    store(a.out + t.index * 2 * R + R, row_sum(x), R);
    report(k, a, t.index);
  }
};

template <class T, int R, int C> void check_weigh() {
  constexpr int tasks = 3, size = R * C;
  auto const x = wholes(tasks * size, C, 60);
  device_array<float> const dx(x), out(untouched<float>(tasks * 2 * R));
  device_array<T> const tiles(untouched<T>(tasks * 2 * size));
  run<weigh<T, R, C>>({tasks, dx.data(), tiles.data(), out.data(), nullptr});
  std::vector<T> cast;
  std::vector<float> sums;
  for (int task = 0; task < tasks; ++task) {
    std::vector<float> column(R);
    for (int again = 0; again < 2; ++again)
      for (int i = 0; i < size; ++i) {
        float const y = x[at(task * size + i)] * 0.5f + 3.f;
        cast.push_back(to<T>(y));
        if (again) column[at(i / C)] += y;
      }
    for (int again = 0; again < 2; ++again) sums.insert(sums.end(), column.begin(), column.end());
  }
  check_same(tiles.read(), cast);
  check_same(out.read(), sums);
}

TEST_CASE_TEMPLATE("a cast and its sums in one pass", T, bf16, fp16) {
  expect_cases const counted(3 * (4 + 1));
  for_each_int<16, 48, 96, 128>([](auto c) { check_weigh<T, M, c>(); });
  check_weigh<T, tall, 64>();
}

template <int R> struct above : simple_op {
  struct args {
    int cases;
    float const* x;  // of each task, a column
    float* out;      // of each task, a column: -x where x is above 2, else x; 100 more if any was
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto const x = load_col<R>(a.x + t.index * R, R, 0.f);
    auto y = where_above(x, 2.f, -x, x);
    if (any_above(x, 2.f)) y = y + 100.f;
    store(a.out + t.index * R, y, R);
    report(k, a, t.index);
  }
};

// The warps of a worker hold equally many rows, in order; NaN is above nothing.
template <int R> void check_above() {
  constexpr int tasks = 2 * R + 2, of_warp = be::worker_warps == 1 ? R : be::worker_rows / 4;
  std::vector<float> x(at(tasks * R), 1.f), expected;
  for (int row = 0; row < R; ++row) {
    x[at(row * R + row)] = 5.f;  // one row, task by task
    x[at((R + row) * R + row)] = std::nanf("");
  }
  std::fill_n(x.begin() + 2 * R * R, R, 2.f);  // none, and all
  std::fill_n(x.begin() + (2 * R + 1) * R, R, inf);
  for (int task = 0; task < tasks; ++task)
    for (int row = 0; row < R; ++row) {
      float const* const mine = x.data() + task * R;
      int const first = row % be::worker_rows / of_warp * of_warp;
      bool any = false;
      for (int i = 0; i < R; ++i)
        any = any ||
              ((of_warp == R || i % be::worker_rows / of_warp * of_warp == first) && mine[i] > 2.f);
      expected.push_back((mine[row] > 2.f ? -mine[row] : mine[row]) + (any ? 100.f : 0.f));
    }
  device_array<float> const dx(x), out(untouched<float>(at(tasks * R)));
  run<above<R>>({tasks, dx.data(), out.data(), nullptr});
  check_same(out.read(), expected);
}
TEST_CASE("rows above a limit") {
  expect_cases const counted(2 * M + 2 + 2 * tall + 2);
  check_above<M>();
  check_above<tall>();
}

// Products of p run while the next p is made: sum over steps of p(step) b, p(step) = x + step.
template <class T, int R, int K, int N> struct handed_over : simple_op {
  static constexpr int steps = 4;
  struct stage {
    shared_tile<T, K, N> b;
  };
  struct task {
    int index, steps;
  };
  struct args {
    int cases;
    float const* x;
    be::source<T, K, N> b;
    float* out;
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 1}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int, be::arrival done) {
    load_async(s.b, window(a.b, t.index * K), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, K> x;
    read_tile(x, a.x, t.index);
    reg_tile<T, R, K> p, next;
    reg_tile<float, R, N> sum = 0.f;
    p = cast<T>(x);
    k.in.try_wait();  // perhaps too early: take() waits
    auto& b = k.in.take().b;
    for (int step = 1; step <= steps; ++step) {
      mma_ab(sum, p, b);
      x = x + 1.f;
      next = cast<T>(x);
      wait<0>(sum, p);
      take_over(p, next);
    }
    k.in.release();
    write_tile(a.out, t.index, sum);
    report(k, a, t.index);
  }
};

template <class T> void check_handed_over() {
  constexpr int tasks = 5, K = 64, N = 32;
  auto const x = wholes(tasks * M * K, 1);
  auto const b = wholes<T>(tasks * K * N, 2);
  device_array<float> const dx(x), out(untouched<float>(tasks * M * N));
  device_array<T> const db(b);
  using op = handed_over<T, M, K, N>;
  run<op>({tasks, dx.data(), be::read_from<K, N>(tensor<T const>{db.data(), tasks * K, N, N}),
           out.data(), nullptr});
  std::vector<float> expected;
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < M * N; ++i) {
      float sum = 0;
      for (int c = 0; c < K; ++c)
        for (int step = 0; step < op::steps; ++step)
          sum += (x[at((task * M + i / N) * K + c)] + static_cast<float>(step)) *
                 tk::widen(b[at((task * K + c) * N + i % N)]);
      expected.push_back(sum);
    }
  check_same(out.read(), expected);
}
TEST_CASE_TEMPLATE("a left operand is made while the last one is read", T, bf16, fp16) {
  expect_cases const counted(5);
  check_handed_over<T>();
}

}  // namespace tk::test
