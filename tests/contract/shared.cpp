// SPDX-License-Identifier: MIT
// Register tiles to shared memory and back, in every element type and width of panel, and as
// operands of products, of other workers' too; columns of both kinds of tile, read and written;
// vectors loaded to shared memory and read as rows of an expression; what lanes of a worker leave
// for one another there.
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
    if constexpr (sizeof(T) <= 2) {
      reg_tile<T, R, C> const packed = cast<T>(x);
      store(k.scratch.tile, packed);
    } else {
      store(k.scratch.tile, cast<T>(x));
    }
    k.w.sync();
    tk::load(y, k.scratch.tile);
    k.w.sync();
    write_tile(a.loaded, t.index, y * 1.f);
    store(k.scratch.tile, cast<T>(x * 2.f - 1.f));
    k.w.sync();
    tk::load(y, k.scratch.tile);
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
  std::vector<float> once, twice;
  for (float const v : x) {
    once.push_back(tk::widen(to<T>(v)));
    twice.push_back(tk::widen(to<T>(2 * v - 1)));
  }
  check_same(loaded.read(), once);
  check_same(changed.read(), twice);
}

TEST_CASE_TEMPLATE("a register tile through shared memory", T, bf16, fp16, float) {
  expect_cases const counted((7 + 2 + 3 + 1) * 2);
  for_each_int<16, 32, 48, 64, 80, 128, 192>([](auto c) { check_there_and_back<T, M, c>(); });
  for_each_int<16, 64>([](auto c) { check_there_and_back<T, tall, c>(); });
  for_each_int<16, 48, 96>([](auto c) { check_there_and_back<T, 2 * M, c>(); });
  check_there_and_back<T, 3 * M, 32>();
}
TEST_CASE_TEMPLATE("a register tile of fp8 through shared memory", T, fp8_e4m3, fp8_e5m2) {
  expect_cases const counted((6 + 1 + 2 + 1) * 2);
  for_each_int<32, 64, 96, 128, 160, 256>([](auto c) { check_there_and_back<T, M, c>(); });
  check_there_and_back<T, tall, 64>();
  for_each_int<32, 96>([](auto c) { check_there_and_back<T, 2 * M, c>(); });
  check_there_and_back<T, 3 * M, 32>();
}

// ---- there, and into a product
template <class T, int C> struct stored_operand : simple_op {
  struct scratch {
    shared_tile<T, M, C> tile;
  };
  struct args {
    int cases;
    float const* x;
    float* product;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, M, C> x;
    read_tile(x, a.x, t.index);
    store(k.scratch.tile, cast<T>(x));
    k.w.sync();
    reg_tile<float, M, M> d;
    mm_abt(d, k.scratch.tile, k.scratch.tile);
    wait<0>(d);
    k.w.sync();
    write_tile(a.product, t.index, d);
    report(k, a, t.index);
  }
};

template <class T, int C> void check_stored_operand() {
  constexpr int tasks = 5;
  auto const x = wholes(tasks * M * C, C, 9);
  device_array<float> const dx(x), product(untouched<float>(tasks * M * M));
  run<stored_operand<T, C>>({tasks, dx.data(), product.data(), nullptr});
  std::vector<float> expected(tasks * M * M);
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < M; ++j)
        for (int k = 0; k < C; ++k)
          expected[at((task * M + i) * M + j)] +=
              x[at((task * M + i) * C + k)] * x[at((task * M + j) * C + k)];
  check_same(product.read(), expected);
}

TEST_CASE_TEMPLATE("a tile that was stored is an operand", T, bf16, fp16) {
  expect_cases const counted(3 * 5);
  for_each_int<16, 64, 128>([](auto c) { check_stored_operand<T, c>(); });
}

// ---- there, and into a product of another worker, after the meeting
template <class T, int C, int Workers> struct relaxed_operand : simple_op {
  static constexpr int workers = Workers;
  struct scratch {
    shared_tile<T, M, C> tile;
  };
  struct args {
    int cases;
    float const* x;  // of each task and worker a tile
    float* product;  // likewise
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const mine = t.index * Workers + k.w.id();
    reg_tile<float, M, C> x;
    read_tile(x, a.x, mine);
    store_relaxed(k.scratch.tile, cast<T>(x));
    k.all.arrive();
    k.all.await();
    reg_tile<float, M, M> d;
    mm_abt(d, k.scratches[(k.w.id() + 1) % Workers].tile, k.scratch.tile);
    wait<0>(d);
    k.all.arrive();
    k.all.await();
    write_tile(a.product, mine, d);
    report(k, a, t.index);
  }
};

template <class T, int C, int Workers> void check_relaxed_operand() {
  constexpr int tasks = 5, tiles = tasks * Workers;
  auto const x = wholes(tiles * M * C, C, 9);
  device_array<float> const dx(x), product(untouched<float>(tiles * M * M));
  run<relaxed_operand<T, C, Workers>>({tasks, dx.data(), product.data(), nullptr});
  std::vector<float> expected(tiles * M * M);
  for (int tile = 0; tile < tiles; ++tile) {
    int const next = tile / Workers * Workers + (tile + 1) % Workers;
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < M; ++j)
        for (int k = 0; k < C; ++k)
          expected[at((tile * M + i) * M + j)] +=
              x[at((next * M + i) * C + k)] * x[at((tile * M + j) * C + k)];
  }
  check_same(product.read(), expected);
}

TEST_CASE_TEMPLATE("a tile that was stored relaxed is another worker's operand", T, bf16, fp16) {
  expect_cases const counted(3 * 5);
  check_relaxed_operand<T, 16, 2>();
  check_relaxed_operand<T, 64, 3>();
  check_relaxed_operand<T, 128, 2>();
}

// ---- columns of tiles
template <class T, int R, int C, int V> struct parts : simple_op {
  struct scratch {
    shared_tile<T, R, C> tile;
  };
  struct args {
    int cases;
    float const* x;
    float *of_shared, *of_registers, *taken;  // C / V tiles of V columns
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    read_tile(x, a.x, 0);
    store(k.scratch.tile, cast<T>(x));
    k.w.sync();
    TK_UNROLL
    for (int part = 0; part < C / V; ++part) {
      auto const cut = columns<V>(x, part);
      write_tile(a.of_registers, part, cut);
      reg_tile<T, R, V> y;
      tk::load(y, columns<V>(k.scratch.tile, part));
      write_tile(a.of_shared, part, y * 1.f);
    }
    TK_ROLL
    for (int part = 0; part < C / V; ++part) write_tile(a.taken, part, take_columns<V>(x));
    report(k, a, t.index, 3 * (C / V));
  }
};

template <class T, int R, int C, int V> void check_parts() {
  auto const x = wholes(R * C, V, 100);
  device_array<float> const dx(x), shared(untouched<float>(R * C)), cut(untouched<float>(R * C)),
      taken(untouched<float>(R * C));
  run<parts<T, R, C, V>>({1, dx.data(), shared.data(), cut.data(), taken.data(), nullptr});
  std::vector<float> exact(R * C), rounded(R * C);
  for (int row = 0; row < R; ++row)
    for (int col = 0; col < C; ++col) {
      std::size_t const to_part = at(col / V * (R * V) + row * V + col % V);
      exact[to_part] = x[at(row * C + col)];
      rounded[to_part] = tk::widen(to<T>(exact[to_part]));
    }
  check_same(shared.read(), rounded);
  check_same(cut.read(), exact);
  check_same(taken.read(), exact);
}

TEST_CASE("columns of shared tiles and of register tiles") {
  expect_cases const counted(3 * (2 + 4 + 2 + 3 + 3 + 2 + 3 + 2 + 3));
  check_parts<bf16, M, 128, 64>();
  check_parts<bf16, M, 256, 64>();
  check_parts<fp16, M, 256, 128>();
  check_parts<fp16, M, 48, 16>();
  check_parts<fp16, M, 96, 32>();
  check_parts<bf16, tall, 128, 64>();
  check_parts<bf16, 2 * M, 96, 32>();
  check_parts<fp8_e4m3, M, 256, 128>();
  check_parts<fp8_e5m2, 2 * M, 96, 32>();
}

// ---- a tile written by its columns, some by each worker, and read whole
template <class T, int C, int V, bool Relaxed> struct written_by_parts : simple_op {
  static constexpr int workers = 2;
  struct scratch {
    shared_tile<T, M, C> tile;  // worker 0's is the tile
  };
  struct args {
    int cases;
    float const* x;
    float *loaded, *product;  // of each task and worker
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const mine = t.index * workers + k.w.id();
    auto& tile = k.scratches[0].tile;
    reg_tile<float, M, C> x;
    read_tile(x, a.x, t.index);
    TK_UNROLL
    for (int part = 0; part < C / V; ++part) {
      if ((part + t.index) % workers != k.w.id()) continue;
      if constexpr (Relaxed) store_relaxed(columns<V>(tile, part), cast<T>(columns<V>(x, part)));
      else store(columns<V>(tile, part), cast<T>(columns<V>(x, part)));
    }
    k.all.arrive();
    k.all.await();
    reg_tile<T, M, C> y;
    tk::load(y, tile);
    reg_tile<float, M, M> d;
    mm_abt(d, tile, tile);
    wait<0>(d);
    k.all.arrive();
    k.all.await();
    write_tile(a.loaded, mine, y * 1.f);
    write_tile(a.product, mine, d);
    report(k, a, t.index, 2);
  }
};

template <class T, int C, int V, bool Relaxed> void check_written_by_parts() {
  using op = written_by_parts<T, C, V, Relaxed>;
  constexpr int tasks = 5;
  auto const x = wholes(tasks * M * C, V);
  device_array<float> const dx(x), loaded(untouched<float>(tasks * op::workers * M * C)),
      product(untouched<float>(tasks * op::workers * M * M));
  run<op>({tasks, dx.data(), loaded.data(), product.data(), nullptr});
  std::vector<float> whole_tiles, products;
  for (int task = 0; task < tasks; ++task)
    for (int w = 0; w < op::workers; ++w) {
      float const* const tile = x.data() + task * M * C;
      whole_tiles.insert(whole_tiles.end(), tile, tile + M * C);
      for (int i = 0; i < M; ++i)
        for (int j = 0; j < M; ++j) {
          float sum = 0;
          for (int k = 0; k < C; ++k) sum += tile[i * C + k] * tile[j * C + k];
          products.push_back(sum);
        }
    }
  check_same(loaded.read(), whole_tiles);
  check_same(product.read(), products);
}

TEST_CASE("a tile that workers write by columns") {
  expect_cases const counted(6 * 5 * 2);
  check_written_by_parts<bf16, 128, 64, false>();
  check_written_by_parts<fp16, 96, 32, false>();
  check_written_by_parts<fp8_e4m3, 256, 128, false>();
  check_written_by_parts<fp16, 128, 64, true>();
  check_written_by_parts<bf16, 48, 16, true>();
  check_written_by_parts<fp8_e5m2, 96, 32, true>();
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
    load_async(s.v, a.from + t.index % 9, left_of(t.index), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    auto& s = k.in.take();
    reg_tile<float, M, N> x = 1.f;
    x = x * 2.f + as_row(s.v);
    write_tile(a.sums, t.index, x);
    x = as_row(s.v) * -1.f;
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
                   bf16, fp16, fp8_e4m3, fp8_e5m2) {
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
TEST_CASE_TEMPLATE("a row of global memory ends where it is told", T, float, bf16, fp16, fp8_e4m3,
                   fp8_e5m2) {
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
