// SPDX-License-Identifier: MIT
// Reductions over rows: largest, smallest, sum, and the sum in shares over several steps; of tiles,
// packed tiles and expressions, for every width to 256. Whole numbers: sums are exact in any order.
// Then where_equal, quotients, columns to and from memory, and infinities.
#include "core/reduce.hpp"
#include "tests/contract/support.hpp"

#include "tests/core/shapes.hpp"

namespace tk::test {

inline constexpr int reductions = 8, steps_of_share = 3;

template <int R, int C> struct reduce : simple_op {
  using tile = reg_tile<float, R, C>;
  struct args {
    int cases;
    float const* x;  // of each task, steps_of_share tiles
    float* out;      // of each task, `reductions` columns
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    float* const out = a.out + t.index * (reductions * R);
    tile x;
    read_tile(x, a.x, t.index * steps_of_share);
    store(out, row_max(x), R);
    store(out + R, row_min(x), R);
    store(out + 2 * R, row_sum(x), R);
    store(out + 3 * R, row_max(x * -2.f + 1.f), R);
    auto const top = row_max(x);
    store(out + 4 * R, row_sum((x - top) * 3.f), R);
    reg_tile<bf16, R, C> const p = cast<bf16>(x);
    store(out + 5 * R, row_sum(p), R);
    reg_col<float, R> sum = 1.f;
    for (int step = 0; step < steps_of_share; ++step) {
      read_tile(x, a.x, t.index * steps_of_share + step);
      sum = sum * 2.f + row_sum_share(x);
    }
    sum = total(sum);
    store(out + 6 * R, sum, R);
    // What a reduction gives is the same in every lane of a row.
    read_tile(x, a.x, t.index * steps_of_share);
    x = x - row_sum(x);
    store(out + 7 * R, row_min(x), R);
    report(k, a, t.index, reductions);
  }
};

// How many lanes share a row: each began the sum over steps with 1.
template <int R, int C> int lanes_of_row() {
  using map = be::fragment_map<R, C>;
  return map::lanes * map::rows_per_lane / R;
}

template <int R, int C> void check_reduce(int tasks) {
  constexpr int size = R * C;
  auto const x = wholes(at(tasks * steps_of_share * size), 7 + C, 9);
  device_array<float> const dx(x), out(untouched<float>(at(tasks * reductions * R)));
  run<reduce<R, C>>({tasks, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int task = 0; task < tasks; ++task) {
    std::vector<float> columns(reductions * R);
    for (int row = 0; row < R; ++row) {
      float sums[steps_of_share]{}, most = -inf, least = inf;
      for (int step = 0; step < steps_of_share; ++step)
        for (int col = 0; col < C; ++col) {
          float const v = x[at((task * steps_of_share + step) * size + row * C + col)];
          sums[step] += v;
          if (step == 0) most = std::fmax(most, v), least = std::fmin(least, v);
        }
      float const in_steps =
          ((static_cast<float>(lanes_of_row<R, C>()) * 2 + sums[0]) * 2 + sums[1]) * 2 + sums[2];
      float const results[reductions] = {
          most,    least,    sums[0],        1 - 2 * least, 3 * (sums[0] - C * most),
          sums[0], in_steps, least - sums[0]};
      for (int i = 0; i < reductions; ++i) columns[at(i * R + row)] = results[i];
    }
    expected.insert(expected.end(), columns.begin(), columns.end());
  }
  check_same(out.read(), expected);
}

TEST_CASE("reductions over rows") {
  constexpr int tasks = 5;
  expect_cases const counted(tasks * reductions * (8 + 2 + 2 + 1));
  for_each_int<16, 32, 48, 64, 80, 112, 176, 256>([](auto c) { check_reduce<M, c>(tasks); });
  for_each_int<16, 96>([](auto c) { check_reduce<tall, c>(tasks); });
  for_each_int<32, 48>([](auto c) { check_reduce<2 * M, c>(tasks); });
  check_reduce<3 * M, 32>(tasks);
}

// ---- infinities, as masks leave them
template <int R, int C> struct infinite : simple_op {
  struct args {
    int cases;
    float* out;  // of each task, 4 columns; task: columns seen
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x = 2.f;
    keep_cols(x, t.index, -inf);
    float* const out = a.out + t.index * (4 * R);
    store(out, row_max(x), R);
    store(out + R, row_sum(exp2(x)), R);
    x = -x;
    store(out + 2 * R, row_min(x), R);
    auto const top = row_max(-x);
    store(out + 3 * R, where_equal(top, -inf, 5.f, top * 2.f), R);
    report(k, a, t.index);
  }
};

TEST_CASE("rows of infinities, and where_equal") {
  constexpr int C = 48;
  expect_cases const counted(C + 1);
  device_array<float> const out(untouched<float>((C + 1) * 4 * M));
  run<infinite<M, C>>({C + 1, out.data(), nullptr});
  std::vector<float> expected;
  for (int seen = 0; seen <= C; ++seen) {
    float const results[4] = {seen ? 2.f : -inf, 4.f * static_cast<float>(seen), seen ? -2.f : inf,
                              seen ? 4.f : 5.f};
    for (float const v : results) expected.insert(expected.end(), M, v);
  }
  check_same(out.read(), expected);
}

// ---- quotients that are whole are exact; with 1 / by alone, many of these are not
template <int R> struct divided_column : simple_op {
  struct args {
    int cases;
    float const* from;
    float* out;  // a column of each task, as from
    float by[8];
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    float const by = a.by[t.index];
    auto const x = load_col<R>(a.from + t.index * R, R, 0.f);
    store(a.out + t.index * R, quotient(x, by, 1.f / by), R);
    report(k, a, t.index);
  }
};

template <int R> void check_quotients() {
  constexpr int tasks = 8;
  typename divided_column<R>::args a{
      tasks, nullptr, nullptr, {1, 3, 41, 100, 1000, 3584, 7168, 28672}, nullptr};
  std::vector<float> x, expected;
  for (float const by : a.by)
    for (int row = 0; row < R; ++row) {
      expected.push_back(static_cast<float>(row % 2 ? 173 + row : -row));
      x.push_back(expected.back() * by);
    }
  device_array<float> const dx(x), out(untouched<float>(tasks * R));
  a.from = dx.data(), a.out = out.data();
  run<divided_column<R>>(a);
  check_same(out.read(), expected);
}
TEST_CASE("quotients of columns") {
  expect_cases const counted(8 * 2);
  check_quotients<M>();
  check_quotients<tall>();
}

// ---- columns of memory: every number of rows that may be left
template <class T> struct column_of_memory : simple_op {
  static constexpr int R = tall;
  struct args {
    int cases;
    T const* from;
    float* out;  // of each task R + 2, with a gap on both sides
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const left = t.index - 2;  // none, some, all, more than there are
    auto const x = load_col<R>(a.from, left, 7.f);
    store(a.out + t.index * (R + 2) + 1, x, R);
    store(a.out + (a.cases + t.index) * (R + 2) + 1, x * 2.f, left);
    report(k, a, t.index);
  }
};

// ---- rows of memory: every number of columns that may be left
template <class T, int R, int C> struct row_of_memory : simple_op {
  struct args {
    int cases;
    T const* from;
    float* out;  // a tile of each task
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto const x = load_row<R, C>(a.from, t.index - 2);  // none, some, all, more than there are
    reg_tile<float, R, C> y = 1.f;
    y = y * 2.f + x;
    write_tile(a.out, t.index, y);
    report(k, a, t.index);
  }
};

template <class T, int R, int C> void check_row_of_memory() {
  constexpr int tasks = C + 5;
  auto const x = wholes<T>(C, 3, 50);
  device_array<T> const dx(x);
  device_array<float> const out(untouched<float>(tasks * R * C));
  run<row_of_memory<T, R, C>>({tasks, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < R * C; ++i)
      expected.push_back(2.f + (i % C < task - 2 ? tk::widen(x[at(i % C)]) : 0.f));
  check_same(out.read(), expected);
}

TEST_CASE_TEMPLATE("a row is loaded up to the columns that are left", T, float, bf16, fp16,
                   fp8_e4m3) {
  expect_cases const counted(16 + 5 + 80 + 5);
  check_row_of_memory<T, M, 80>();
  check_row_of_memory<T, tall, 16>();
}

TEST_CASE_TEMPLATE("a column is loaded and stored up to the rows that are left", T, float, bf16,
                   fp16) {
  constexpr int R = tall, tasks = R + 5;
  expect_cases const counted(tasks);
  auto const x = wholes<T>(R, 3, 50);
  device_array<T> const dx(x);
  device_array<float> const out(untouched<float>(2 * tasks * (R + 2)));
  run<column_of_memory<T>>({tasks, dx.data(), out.data(), nullptr});
  auto expected = untouched<float>(2 * tasks * (R + 2));
  for (int task = 0; task < tasks; ++task)
    for (int row = 0; row < R; ++row) {
      int const left = task - 2;
      float const v = row < left ? tk::widen(x[at(row)]) : 7.f;
      expected[at(task * (R + 2) + 1 + row)] = v;
      if (row < left) expected[at((tasks + task) * (R + 2) + 1 + row)] = 2 * v;
    }
  check_same(out.read(), expected);
}

}  // namespace tk::test
