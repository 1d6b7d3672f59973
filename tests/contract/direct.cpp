// SPDX-License-Identifier: MIT
// What moves between registers and global memory without shared memory in between: store_direct,
// add_scaled, plain and transposed, and partial tiles, which several tasks add to at once.
#include "core/partial_tiles.hpp"
#include "tests/contract/placed.hpp"
#include "tests/core/shapes.hpp"

namespace tk::test {

// into[window] = x + scale * from[window], where from is zero outside its own bounds.
template <class T, int R, int C> struct direct : simple_op {
  struct args {
    int cases;
    float const* x;
    corner const* corners;
    tensor<T const> from;
    tensor<T> into;
    int from_vector_width, into_vector_width;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    corner const w = a.corners[t.index];
    reg_tile<float, R, C> x;
    read_tile(x, a.x, 0);
    add_scaled(x, -2.f, a.from, a.from_vector_width, w.row, w.col, w.i, w.j);
    store_direct(a.into, w.row, w.col, t.index, 0, cast<T>(x), a.into_vector_width);
    report(k, a, t.index);
  }
};

template <class T, int R, int C> int check_direct(shape s) {
  auto const x = wholes(R * C, 3, 20);
  device_array<float> const dx(x);
  auto const corners = corners_of<T, R, C>(s);
  device_array<corner> const dcorners(corners);
  int const tasks = static_cast<int>(corners.size());
  int const cases = tasks * static_cast<int>(std::size(placings));
  expect_cases const counted(cases);
  shape const larger{s.rows + 7, s.cols + 3, tasks, 1};
  for (int p = 0; p < static_cast<int>(std::size(placings)); ++p) {
    CAPTURE(p);
    auto const from = placed_input<T>(s, placings[p]);
    placed<T> into(larger, placings[p % output_placings], untouched<T>());
    into.upload();
    run<direct<T, R, C>>({tasks, dx.data(), dcorners.data(), from.input(), into.view(),
                          vector_width_of(from.input()), vector_width_of(into.view()), nullptr});
    for (int task = 0; task < tasks; ++task)
      for (int i = 0; i < R * C; ++i) {
        auto const& w = corners[at(task)];
        int const row = w.row + i / C, col = w.col + i % C;
        if (into.holds(row, col))
          into.element(row, col, task, 0) =
              to<T>(x[at(i)] - 2 * tk::widen(from.value(row, col, w.i, w.j)));
      }
    check_same(into.read(), into.values());
  }
  return cases;
}

TEST_CASE_TEMPLATE("straight to and from global memory", T, float, bf16, fp16, fp8_e4m3, fp8_e5m2) {
  int cases = check_direct<T, M, 32>({2 * M + 3, 69, 2, 3});
  cases += check_direct<T, M, 80>({M - 1, 88, 3, 1});
  cases += check_direct<T, 2 * M, 16>({5, 3, 2, 2});
  cases += check_direct<T, tall, 16>({1, 1, 1, 1});
  CHECK(cases >= 1000);
}

// out = x - 2 from[window] transposed.
template <class T, int R, int C> struct direct_transposed : simple_op {
  struct args {
    int cases;
    float const* x;
    corner const* corners;
    tensor<T const> from;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    corner const w = a.corners[t.index];
    reg_tile<float, R, C> x;
    read_tile(x, a.x, 0);
    add_scaled_transposed(x, -2.f, a.from, w.row, w.col, w.i, w.j);
    write_tile(a.out, t.index, x * 1.f);
    report(k, a, t.index);
  }
};

template <class T, int R, int C> void check_direct_transposed(shape s) {
  auto const x = wholes(R * C, 3, 20);
  device_array<float> const dx(x);
  auto const corners = corners_of<T, C, R>(s);
  device_array<corner> const dcorners(corners);
  int const tasks = static_cast<int>(corners.size());
  expect_cases const counted(tasks * static_cast<int>(std::size(placings)));
  for (int p = 0; p < static_cast<int>(std::size(placings)); ++p) {
    CAPTURE(p);
    auto const from = placed_input<T>(s, placings[p]);
    device_array<float> const out(untouched<float>(at(tasks * R * C)));
    run<direct_transposed<T, R, C>>(
        {tasks, dx.data(), dcorners.data(), from.input(), out.data(), nullptr});
    std::vector<float> expected;
    for (auto const& w : corners)
      for (int i = 0; i < R * C; ++i)
        expected.push_back(x[at(i)] -
                           2 * tk::widen(from.value(w.row + i % C, w.col + i / C, w.i, w.j)));
    check_same(out.read(), expected);
  }
}

TEST_CASE_TEMPLATE("transposed from global memory", T, float, bf16, fp16) {
  check_direct_transposed<T, M, 32>({69, 2 * M + 3, 2, 3});
  check_direct_transposed<T, M, 80>({88, M - 1, 3, 1});
  check_direct_transposed<T, 2 * M, 16>({3, 5, 2, 2});
  check_direct_transposed<T, tall, 64>({64, tall, 1, 1});
}

// out[window] = x transposed; each task has a plane of its own.
template <class T, int R, int C> struct store_out_transposed : simple_op {
  struct args {
    int cases;
    float const* x;
    corner const* corners;
    tensor<T> into;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    corner const w = a.corners[t.index];
    reg_tile<float, R, C> x;
    read_tile(x, a.x, 0);
    store_transposed(a.into, w.row, w.col, t.index, 0, x);
    report(k, a, t.index);
  }
};

template <class T, int R, int C> void check_store_transposed(shape s) {
  auto const x = wholes(R * C, 3, 20);
  device_array<float> const dx(x);
  auto const corners = corners_of<T, C, R>(s);
  device_array<corner> const dcorners(corners);
  int const tasks = static_cast<int>(corners.size());
  s.n0 = tasks, s.n1 = 1;
  expect_cases const counted(tasks * output_placings);
  for (int p = 0; p < output_placings; ++p) {
    CAPTURE(p);
    placed<T> into(s, placings[p], untouched<T>());
    into.upload();
    run<store_out_transposed<T, R, C>>({tasks, dx.data(), dcorners.data(), into.view(), nullptr});
    for (int task = 0; task < tasks; ++task)
      for (int i = 0; i < R * C; ++i) {
        int const row = corners[at(task)].row + i % C, col = corners[at(task)].col + i / C;
        if (into.holds(row, col)) into.element(row, col, task, 0) = to<T>(x[at(i)]);
      }
    check_same(into.read(), into.values());
  }
}

TEST_CASE_TEMPLATE("transposed to global memory", T, float, bf16) {
  check_store_transposed<T, M, 32>({69, 2 * M + 3, 1, 1});
  check_store_transposed<T, 2 * M, 16>({3, 5, 1, 1});
  check_store_transposed<T, tall, 64>({64, tall, 1, 1});
}

// ---- partial tiles
template <int R, int C> struct add_partials : simple_op {
  struct args {
    int cases, tiles;
    float const* x;
    partial_tiles<R, C> partials;
    float* out;
    enum { in, add, out_again } phase;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    int const tile = t.index % a.tiles;
    if (a.phase == args::out_again) {
      tk::load(x, a.partials, tile);
      write_tile(a.out, t.index, x);
    } else {
      read_tile(x, a.x, t.index);
      if (a.phase == args::in) store(a.partials, tile, x);
      else store_add(a.partials, tile, x);
    }
    report(k, a, t.index);
  }
};

template <int R, int C> void check_partials() {
  constexpr int tiles = 5, adds = 43, size = R * C;
  auto const x = wholes(adds * size, C, 100);
  device_array<float> const dx(x), partials(untouched<float>((tiles + 1) * size)),
      out(untouched<float>(tiles * size));
  using op = add_partials<R, C>;
  using args = typename op::args;
  run<op>({tiles, tiles, dx.data(), {partials.data()}, out.data(), args::in, nullptr});
  run<op>({adds, tiles, dx.data(), {partials.data()}, out.data(), args::add, nullptr});
  run<op>({tiles, tiles, dx.data(), {partials.data()}, out.data(), args::out_again, nullptr});
  std::vector<float> expected(x.begin(), x.begin() + tiles * size);
  for (int task = 0; task < adds; ++task)
    for (int i = 0; i < size; ++i) expected[at(task % tiles * size + i)] += x[at(task * size + i)];
  check_same(out.read(), expected);
  // The tile after the last is as it was.
  auto const after = partials.read();
  check_same(std::vector<float>(after.begin() + tiles * size, after.end()), untouched<float>(size));
}

// Tiles of 16 bits are stored by some tasks and loaded by others, in another order.
template <class T, int R, int C> struct pass_tiles : simple_op {
  struct args {
    int cases;
    float const* x;
    packed_tiles<R, C> tiles;
    float* out;  // null: they are stored
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    if (a.out) {
      int const other = a.cases - 1 - t.index;
      reg_tile<T, R, C> packed;
      tk::load(packed, a.tiles, other);
      write_tile(a.out, other, packed);
    } else {
      read_tile(x, a.x, t.index);
      reg_tile<T, R, C> const packed = cast<T>(x);
      store(a.tiles, t.index, packed);
    }
    report(k, a, t.index);
  }
};

template <class T, int R, int C> void check_passed() {
  constexpr int tiles = 5, size = R * C;
  auto const x = wholes(tiles * size, C, 100);
  device_array<float> const dx(x), out(untouched<float>(tiles * size));
  device_array<std::uint32_t> const packed(at((tiles + 1) * size / 2));
  expect_cases const counted(2 * tiles);
  using op = pass_tiles<T, R, C>;
  run<op>({tiles, dx.data(), {packed.data()}, nullptr, nullptr});
  run<op>({tiles, dx.data(), {packed.data()}, out.data(), nullptr});
  check_same(out.read(), x);
  auto const after = packed.read();
  for (int i = tiles * size / 2; i < (tiles + 1) * size / 2; ++i) REQUIRE(after[at(i)] == 0);
}

TEST_CASE_TEMPLATE("tiles of 16 bits in the order of lanes", T, bf16, fp16) {
  check_passed<T, M, 16>();
  check_passed<T, 2 * M, 32>();
  check_passed<T, tall, 64>();
}

// The first rows of a tile: as many as the task's index, from none on.
template <int R, int C> struct partial_rows : simple_op {
  struct args {
    int cases;
    float const* x;
    partial_tiles<R, C> partials;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<float, R, C> x;
    read_tile(x, a.x, t.index);
    store(a.partials, t.index, x, t.index);
    x = 3.f;
    load_add(x, a.partials, t.index, t.index);
    write_tile(a.out, t.index, x);
    report(k, a, t.index);
  }
};

TEST_CASE("the first rows of partial tiles") {
  constexpr int R = M, C = 48, tiles = R + 1, size = R * C;
  expect_cases const counted(tiles);
  auto const x = wholes(tiles * size, 5, 100);
  device_array<float> const dx(x), partials(untouched<float>((tiles + 1) * size)),
      out(untouched<float>(tiles * size));
  run<partial_rows<R, C>>({tiles, dx.data(), {partials.data()}, out.data(), nullptr});
  auto const found = out.read();
  int wrong = 0;
  for (int i = 0; i < tiles * size; ++i)
    if (i % size / C < i / size) wrong += found[at(i)] != x[at(i)] + 3.f;
  CHECK(wrong == 0);
  auto const after = partials.read();
  check_same(std::vector<float>(after.begin() + tiles * size, after.end()), untouched<float>(size));
}

TEST_CASE("partial tiles: stored, added to by many, loaded") {
  expect_cases const counted(7 * (5 + 43 + 5));
  for_each_int<16, 48, 64, 128>([](auto c) { check_partials<M, c>(); });
  for_each_int<16, 80>([](auto c) { check_partials<tall, c>(); });
  check_partials<2 * M, 48>();
}

}  // namespace tk::test
