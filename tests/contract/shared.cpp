// SPDX-License-Identifier: MIT
// Register tiles to shared memory and back, in every element type and width of panel; columns of
// both kinds of tile; vectors loaded to shared memory and read as rows of an expression; what lanes
// of a worker leave for one another there.
#include "tests/contract/support.hpp"

#include "tests/core/shapes.hpp"

namespace tk::test {

// ---- there and back
template <class T, int R, int C> struct there_and_back : simple_op {
  struct scratch {
    shared_tile<T, R, C> tile;
  };
  struct args {
    int cases;
    float const* x;
    float *loaded, *from_expression;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    read_tile(x, a.x, t.index);
    reg_tile<T, R, C> y;
    if constexpr (sizeof(T) == 2) {
      reg_tile<T, R, C> const packed = cast<T>(x);
      be::store(k.scratch.tile, packed);
    } else {
      be::store(k.scratch.tile, cast<T>(x));
    }
    k.w.sync();
    be::load(y, k.scratch.tile);
    k.w.sync();
    write_tile(a.loaded, t.index, y * 1.f);
    be::store(k.scratch.tile, cast<T>(x * 2.f - 1.f));
    k.w.sync();
    be::load(y, k.scratch.tile);
    k.w.sync();
    write_tile(a.from_expression, t.index, y * 1.f);
    report(k, a, t.index, 2);
  }
};

template <class T, int R, int C> void check_there_and_back() {
  constexpr int size = R * C;
  auto const x = wholes(size, C, 60);
  device_array<float> const dx(x), loaded(untouched<float>(size)), changed(untouched<float>(size));
  run<there_and_back<T, R, C>>({1, dx.data(), loaded.data(), changed.data(), nullptr});
  check_same(loaded.read(), x);
  std::vector<float> expected;
  for (float const v : x) expected.push_back(2 * v - 1);
  check_same(changed.read(), expected);
}

TEST_CASE_TEMPLATE("a register tile through shared memory", T, bf16, fp16, float) {
  expect_cases const counted((7 + 2 + 3 + 1) * 2);
  for_each_int<16, 32, 48, 64, 80, 128, 192>([](auto c) { check_there_and_back<T, M, c>(); });
  for_each_int<16, 64>([](auto c) { check_there_and_back<T, tall, c>(); });
  for_each_int<16, 48, 96>([](auto c) { check_there_and_back<T, 2 * M, c>(); });
  check_there_and_back<T, 3 * M, 32>();
}

// ---- operands of a product: d = x (2 x + 1)^T
template <class T, int C> struct stored_operands : simple_op {
  struct scratch {
    shared_tile<T, M, C> a, b;
  };
  struct args {
    int cases;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, M, C> x;
    read_tile(x, a.x, t.index);
    be::store(k.scratch.a, cast<T>(x));
    be::store(k.scratch.b, cast<T>(x * 2.f + 1.f));
    k.w.sync();
    reg_tile<float, M, M> d;
    mm_abt(d, k.scratch.a, k.scratch.b);
    wait<0>(d);
    k.w.sync();
    write_tile(a.out, t.index, d);
    report(k, a, t.index);
  }
};
template <class T, int C> void check_stored_operands() {
  constexpr int tasks = 6;
  auto const x = wholes(tasks * M * C, 7);
  device_array<float> const dx(x), out(untouched<float>(tasks * M * M));
  run<stored_operands<T, C>>({tasks, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int row = 0; row < tasks * M; ++row)
    for (int n = row / M * M; n < row / M * M + M; ++n) {
      float sum = 0;
      for (int i = 0; i < C; ++i) sum += x[at(row * C + i)] * (2 * x[at(n * C + i)] + 1);
      expected.push_back(sum);
    }
  check_same(out.read(), expected);
}
TEST_CASE_TEMPLATE("a product of tiles that the worker has stored", T, bf16, fp16) {
  expect_cases const counted(2 * 6);
  check_stored_operands<T, 48>();
  check_stored_operands<T, 128>();
}

// ---- columns of tiles
template <class T, int R, int C, int V> struct parts : simple_op {
  struct scratch {
    shared_tile<T, R, C> tile;
  };
  struct args {
    int cases;
    float const* x;
    float *of_shared, *of_registers;  // C / V tiles of V columns
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    read_tile(x, a.x, 0);
    be::store(k.scratch.tile, cast<T>(x));
    k.w.sync();
    TK_UNROLL
    for (int part = 0; part < C / V; ++part) {
      auto const cut = columns<V>(x, part);
      write_tile(a.of_registers, part, cut);
      reg_tile<T, R, V> y;
      be::load(y, columns<V>(k.scratch.tile, part));
      write_tile(a.of_shared, part, y * 1.f);
    }
    report(k, a, t.index, 2 * (C / V));
  }
};

template <class T, int R, int C, int V> void check_parts() {
  auto const x = wholes(R * C, V, 100);
  device_array<float> const dx(x), shared(untouched<float>(R * C)), cut(untouched<float>(R * C));
  run<parts<T, R, C, V>>({1, dx.data(), shared.data(), cut.data(), nullptr});
  std::vector<float> expected(R * C);
  for (int row = 0; row < R; ++row)
    for (int col = 0; col < C; ++col)
      expected[at(col / V * (R * V) + row * V + col % V)] = x[at(row * C + col)];
  check_same(shared.read(), expected);
  check_same(cut.read(), expected);
}

TEST_CASE("columns of shared tiles and of register tiles") {
  expect_cases const counted(2 * (2 + 4 + 2 + 3 + 3 + 2 + 3));
  check_parts<bf16, M, 128, 64>();
  check_parts<bf16, M, 256, 64>();
  check_parts<fp16, M, 256, 128>();
  check_parts<fp16, M, 48, 16>();
  check_parts<fp16, M, 96, 32>();
  check_parts<bf16, tall, 128, 64>();
  check_parts<bf16, 2 * M, 96, 32>();
}

// ---- vectors
template <class T, int N> struct vectors : simple_op {
  struct stage {
    shared_vec<T, N> v;
  };
  struct args {
    int cases;  // task: shift index % 9 elements, left from a list
    T const* from;
    float *sums, *rows;
    int* ran;
  };
  static TK_BOTH int left_of(int i) {
    int const lefts[] = {N, N + 5, N - 1, 1, 0, -3, N / 2 + 1};
    return lefts[i / 9 % 7];
  }
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 1}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int, be::arrival done) {
    be::load_async(s.v, a.from + t.index % 9, left_of(t.index), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto& s = k.in.take();
    reg_tile<float, M, N> x = 1.f;
    x = x * 2.f + be::row(s.v);
    write_tile(a.sums, t.index, x);
    x = be::row(s.v) * -1.f;
    write_tile(a.rows, t.index, x);
    k.w.sync();
    k.in.release();
    report(k, a, t.index);
  }
};

template <class T, int N> void check_vectors() {
  using op = vectors<T, N>;
  constexpr int tasks = 63, size = M * N;
  auto const from = wholes<T>(N + 16, 3, 100);
  device_array<T> const dfrom(from);
  device_array<float> const sums(untouched<float>(tasks * size)),
      rows(untouched<float>(tasks * size));
  run<op>({tasks, dfrom.data(), sums.data(), rows.data(), nullptr});
  std::vector<float> expected_sums, expected_rows;
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < size; ++i) {
      int const col = i % N;
      float const v = col < op::left_of(task) ? tk::widen(from[at(task % 9 + col)]) : 0.f;
      expected_sums.push_back(2 + v);
      expected_rows.push_back(-v);
    }
  check_same(sums.read(), expected_sums);
  check_same(rows.read(), expected_rows);
}

TEST_CASE_TEMPLATE("a vector is loaded, with zeros after its end, and read as a row", T, float,
                   bf16, fp16) {
  expect_cases const counted(63 * 3);
  for_each_int<16, 48, 256>([](auto n) { check_vectors<T, n>(); });
}

// ---- rows of global memory, read in place
template <class T> struct row_in_place : simple_op {
  struct args {
    int cases;
    T const* from;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, M, 48> x = 0.f;
    x = x + row_of<T, 48>{a.from, t.index - 1};
    write_tile(a.out, t.index, x);
    report(k, a, t.index);
  }
};
TEST_CASE_TEMPLATE("a row of global memory ends where it is told", T, float, bf16, fp16) {
  constexpr int tasks = 51;
  expect_cases const counted(tasks);
  auto const from = wholes<T>(48, 3, 100);
  device_array<T> const dfrom(from);
  device_array<float> const out(untouched<float>(tasks * M * 48));
  run<row_in_place<T>>({tasks, dfrom.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < M * 48; ++i)
      expected.push_back(i % 48 < task - 1 ? tk::widen(from[at(i % 48)]) : 0.f);
  check_same(out.read(), expected);
}

// ---- lane to lane
struct lane_to_lane : simple_op {
  static constexpr int lanes = be::worker_lanes, rounds = 8;
  struct scratch {
    int word[2][lanes];
  };
  struct args {
    int cases;
    int* out;  // of each task, each lane's sum over the rounds
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const lane = k.w.lane();
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
      auto& word = k.scratch.word[round % 2];
      word[lane] = lane * (round + 1) + t.index;
      k.w.sync();
      sum += word[(lane + 37 * round + 1) % lanes];
    }
    k.w.sync();
    a.out[t.index * lanes + lane] = sum;
    report(k, a, t.index);
  }
};
TEST_CASE("sync() settles what lanes of a worker leave for one another") {
  constexpr int tasks = 6, lanes = be::worker_lanes;
  expect_cases const counted(tasks);
  device_array<int> const out(std::vector<int>(tasks * lanes, -1));
  run<lane_to_lane>({tasks, out.data(), nullptr});
  std::vector<int> expected;
  for (int task = 0; task < tasks; ++task)
    for (int lane = 0; lane < lanes; ++lane) {
      int sum = 0;
      for (int round = 0; round < lane_to_lane::rounds; ++round)
        sum += (lane + 37 * round + 1) % lanes * (round + 1) + task;
      expected.push_back(sum);
    }
  check_same(out.read(), expected);
}

}  // namespace tk::test
