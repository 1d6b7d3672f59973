// SPDX-License-Identifier: MIT
// shards: 3
// Vectors in shared memory (core/vector.hpp) in each element type, one per shard: reductions over
// columns, of tiles, packed tiles and expressions, for every width to 256, read back as rows of an
// expression; cumulative sums; vectors fetched ahead; one value per row; and how far a vector is
// stored. Whole numbers: sums are exact in any order.
#include "core/vector.hpp"

#include "tests/contract/support.hpp"
#include "tests/core/shapes.hpp"

namespace tk::test {

#if TK_SHARD == 0
using type = float;
#elif TK_SHARD == 1
using type = bf16;
#else
using type = fp16;
#endif

// ---- reductions over columns; two workers, each with tiles of its own
inline constexpr int reductions = 9;

template <class T, int R, int C> struct over_columns : simple_op {
  static constexpr int workers = 2;
  struct scratch {
    shared_vec<T, C> vec;
    col_exchange<C> exchange;
    col_shares<C> shares;
  };
  struct args {
    int cases;
    float const* x;
    T* out;  // of each tile, `reductions` rows
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const tile = t.index * workers + k.w.id();
    T* const out = a.out + tile * (reductions * C);
    auto& s = k.scratch;
    reg_tile<float, R, C> x;
    read_tile(x, a.x, tile);
    col_max(k.w, s.vec, x, s.exchange);
    store(out, s.vec, C);
    col_min(k.w, s.vec, x, s.exchange);
    store(out + C, s.vec, C);
    col_sum(k.w, s.vec, x, s.exchange);
    store(out + 2 * C, s.vec, C);
    col_sum_shares(k.w, s.shares, x);
    k.w.sync();
    for_col_sums(s.shares, [&](int col, float sum) { out[8 * C + col] = round_to<T>(sum); });
    col_max(k.w, s.vec, x * -2.f + 1.f, s.exchange);
    store(out + 3 * C, s.vec, C);
    reg_tile<bf16, R, C> const p = cast<bf16>(x);
    col_sum(k.w, s.vec, p, s.exchange);
    store(out + 4 * C, s.vec, C);
    read_tile(x, a.x, tile);  // both tiles at once are more than registers hold
    col_sum(k.w, s.vec, (x - row_max(x)) * 2.f, s.exchange);
    store(out + 5 * C, s.vec, C);
    // Two more in a row: what the first gives is an operand of the second.
    col_max(k.w, s.vec, x, s.exchange);
    if constexpr (sizeof(T) == 4) {
      reg_row<T, R, C> top;
      tk::load(top, s.vec);
      col_min(k.w, s.vec, x - top, s.exchange);
    } else {
      col_min(k.w, s.vec, x - as_row(s.vec), s.exchange);
    }
    store(out + 6 * C, s.vec, C);
    keep_rows(x, tile % 3, -inf);
    col_max(k.w, s.vec, x, s.exchange);
    store(out + 7 * C, s.vec, C);
    k.w.sync();
    report(k, a, t.index, reductions);
  }
};

template <class T, int R, int C> void check_columns() {
  using op = over_columns<T, R, C>;
  constexpr int tasks = 3, tiles = tasks * op::workers, size = R * C;
  auto const x = wholes(at(tiles * size), 5 + C, 9);
  device_array<float> const dx(x);
  device_array<T> const out(untouched<T>(at(tiles * reductions * C)));
  run<op>({tasks, dx.data(), out.data(), nullptr});
  std::vector<T> expected(at(tiles * reductions * C));
  for (int tile = 0; tile < tiles; ++tile) {
    auto const value = [&](int row, int col) { return x[at(tile * size + row * C + col)]; };
    std::vector<float> top(R, -inf);
    for (int i = 0; i < size; ++i) top[at(i / C)] = std::fmax(top[at(i / C)], value(i / C, i % C));
    for (int col = 0; col < C; ++col) {
      float most = -inf, least = inf, sum = 0, below_top = 0, first = -inf;
      for (int row = 0; row < R; ++row) {
        float const v = value(row, col);
        most = std::fmax(most, v), least = std::fmin(least, v), sum += v;
        below_top += 2 * (v - top[at(row)]);
        if (row < tile % 3) first = std::fmax(first, v);
      }
      float const results[reductions] = {most,         least, sum, 1 - 2 * least, sum, below_top,
                                         least - most, first, sum};
      for (int i = 0; i < reductions; ++i)
        expected[at((tile * reductions + i) * C + col)] = to<T>(results[i]);
    }
  }
  check_same(out.read(), expected);
}

TEST_CASE("reductions over columns") {
  expect_cases const counted(3 * reductions * (8 + 2 + 2 + 1));
  for_each_int<16, 32, 48, 64, 80, 112, 176, 256>([](auto c) { check_columns<type, M, c>(); });
  for_each_int<16, 96>([](auto c) { check_columns<type, tall, c>(); });
  for_each_int<32, 48>([](auto c) { check_columns<type, 2 * M, c>(); });
  check_columns<type, 3 * M, 32>();
}

// ---- fractions: the same bits in every run
struct sum_of_fractions : simple_op {
  static constexpr int R = 2 * M, C = 80;
  struct scratch {
    shared_vec<float, C> vec;
    col_exchange<C> exchange;
  };
  struct args {
    int cases;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    read_tile(x, a.x, 0);
    col_sum(k.w, k.scratch.vec, x, k.scratch.exchange);
    store(a.out + t.index * C, k.scratch.vec, C);
    report(k, a, t.index);
  }
};
TEST_CASE("a sum over columns repeats bit for bit") {
  using op = sum_of_fractions;
  constexpr int tasks = 8;
  expect_cases const counted(tasks);
  std::vector<float> x(op::R * op::C);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(random_unit(3, i));
  device_array<float> const dx(x), out(untouched<float>(tasks * op::C));
  run<op>({tasks, dx.data(), out.data(), nullptr});
  auto const found = out.read();
  for (int i = 0; i < tasks * op::C; ++i) {
    double exact = 0;
    for (int row = 0; row < op::R; ++row) exact += x[at(row * op::C + i % op::C)];
    // R numbers below 1, each addition rounded.
    CHECK(std::fabs(found[at(i)] - exact) <= op::R * op::R * 0x1p-24);
    CHECK(std::bit_cast<std::uint32_t>(found[at(i)]) ==
          std::bit_cast<std::uint32_t>(found[at(i % op::C)]));
  }
}

// ---- cumulative sums
template <class T, int N> struct cumulative : simple_op {
  struct scratch {
    shared_vec<T, N> vec;
  };
  struct stage {
    shared_vec<T, N> vec;
  };
  struct args {
    int cases;
    T const* from;
    T *once, *twice;
    float* warps;  // of each lane the sum of the first 3 (task + 1) of `twice`, or of all
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 1}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int, be::arrival done) {
    load_async(s.vec, a.from + t.index * N, N, done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto& vec = k.in.take().vec;
    cumsum(k.w, vec);
    store(a.once + t.index * N, vec, N);
    cumsum(k.w, vec);
    store(a.twice + t.index * N, vec, N);
    a.warps[t.index * be::worker_lanes + be::worker_lane()] = sum_of(vec, 3 * (t.index + 1));
    k.w.sync();
    k.in.release();
    report(k, a, t.index, 2);
  }
};

template <class T, int N> void check_cumulative() {
  constexpr int tasks = 4;
  auto const from = wholes<T>(tasks * N, N, 1);
  device_array<T> const dfrom(from), once(untouched<T>(tasks * N)), twice(untouched<T>(tasks * N));
  device_array<float> const warps(untouched<float>(tasks * be::worker_lanes));
  run<cumulative<T, N>>({tasks, dfrom.data(), once.data(), twice.data(), warps.data(), nullptr});
  std::vector<T> sums, sums_of_sums;
  float sum = 0, sum_of_sums = 0;
  for (int i = 0; i < tasks * N; ++i) {
    if (i % N == 0) sum = sum_of_sums = 0;
    sums.push_back(to<T>(sum += tk::widen(from[at(i)])));
    sums_of_sums.push_back(to<T>(sum_of_sums += tk::widen(sums.back())));
  }
  check_same(once.read(), sums);
  check_same(twice.read(), sums_of_sums);
  std::vector<float> of_warps;
  for (int task = 0; task < tasks; ++task) {
    float all = 0;
    for (int i = 0; i < N && i < 3 * (task + 1); ++i)
      all += tk::widen(sums_of_sums[at(task * N + i)]);
    of_warps.insert(of_warps.end(), be::worker_lanes, all);
  }
  check_same(warps.read(), of_warps);
}

TEST_CASE("cumulative sums") {
  expect_cases const counted(4 * 2 * 6);
  for_each_int<16, 32, 48, 80, 256, 1024>([](auto n) { check_cumulative<type, n>(); });
}

// ---- from global memory, by lanes that hold the next one while this one is read
template <class T, int N> struct fetched : simple_op {
  struct scratch {
    shared_vec<T, N> vec;
  };
  struct args {
    int cases;
    T const* from;  // of each task three vectors
    T* to;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto const of_task = t.index * 3 * N;
    auto& vec = k.scratch.vec;
    fetched_vec<T, N> next;
    fetch(next, a.from + of_task);
    for (int i = 0; i < 3; ++i) {
      store(vec, next);
      k.w.sync();
      if (i < 2) fetch(next, a.from + of_task + (i + 1) * N);
      store(a.to + of_task + i * N, vec, N);
      k.w.sync();
    }
    report(k, a, t.index);
  }
};

template <class T, int N> void check_fetched() {
  constexpr int tasks = 4;
  auto const from = wholes<T>(tasks * 3 * N, N, 60);
  device_array<T> const dfrom(from), to(untouched<T>(tasks * 3 * N));
  run<fetched<T, N>>({tasks, dfrom.data(), to.data(), nullptr});
  check_same(to.read(), from);
}

TEST_CASE("a vector is fetched ahead") {
  expect_cases const counted(4 * 5);
  for_each_int<16, 48, 64, 128, 272>([](auto n) { check_fetched<type, n>(); });
}

// ---- one value per row, to a vector and back, and both to memory
template <class T, int R> struct column_in_vector : simple_op {
  struct scratch {
    shared_vec<T, R> vec;
  };
  struct args {
    int cases;
    float const* from;
    T *stored, *column;  // of each task R + 2, with a gap on both sides
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const left = t.index - 2;  // none, some, all, more than there are
    auto& vec = k.scratch.vec;
    store(vec, load_col<R>(a.from, R, 0.f));
    k.w.sync();
    store(a.stored + t.index * (R + 2) + 1, vec, left);
    store(a.column + t.index * (R + 2) + 1, load_col(vec) * 2.f, left);
    k.w.sync();
    report(k, a, t.index);
  }
};

template <class T, int R> void check_column_in_vector() {
  constexpr int tasks = R + 5;
  auto const from = wholes(R, 3, 50);
  device_array<float> const dfrom(from);
  auto expected = untouched<T>(tasks * (R + 2)), doubled = expected;
  device_array<T> const stored(expected), column(expected);
  run<column_in_vector<T, R>>({tasks, dfrom.data(), stored.data(), column.data(), nullptr});
  for (int task = 0; task < tasks; ++task)
    for (int row = 0; row < R && row < task - 2; ++row) {
      expected[at(task * (R + 2) + 1 + row)] = to<T>(from[at(row)]);
      doubled[at(task * (R + 2) + 1 + row)] = to<T>(2 * from[at(row)]);
    }
  check_same(stored.read(), expected);
  check_same(column.read(), doubled);
}

TEST_CASE("a column goes to a vector and back, and both to memory up to what is left") {
  expect_cases const counted(M + 5 + tall + 5 + 3 * M + 5);
  check_column_in_vector<type, M>();
  check_column_in_vector<type, tall>();
  check_column_in_vector<type, 3 * M>();
}

}  // namespace tk::test
