// SPDX-License-Identifier: MIT
// shards: 3
// Register tiles to windows of global tensors: straight, and through shared memory in one part or
// in several that take turns. Windows inside, across each edge and outside, sinks placed in every
// way: nothing but the window's part of the tensor may change. And shared tiles to global memory as
// they are.
#include "tests/contract/placed.hpp"

namespace tk::test {

enum class way { direct, one_tile, two_tiles, staged };

// Each task has a plane pair of its own: j = 0 gets x, j = 1 gets 2 x + 1, in parts of V columns.
template <class T, int R, int V, int Parts, way Way> struct store_window : simple_op {
  static constexpr int C = V * Parts, tiles = Way == way::two_tiles ? 2 : 1;
  using tiles_type = shared_tile<T, R, V>[tiles];
  struct scratch {
    std::conditional_t<Way == way::staged, be::staging<T, R, V>, tiles_type> via;
  };
  struct args {
    int cases;
    float const* x;
    corner const* corners;
    be::sink<T, R, V> into;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    corner const w = a.corners[t.index];
    reg_tile<float, R, C> x;
    read_tile(x, a.x, 0);
    TK_UNROLL
    for (int j = 0; j < 2; ++j) {
      TK_UNROLL
      for (int part = 0; part < Parts; ++part) {
        auto const piece = columns<V>(x, part);
        auto const to = window(a.into, w.row, w.col + part * V, t.index, j);
        if constexpr (Way == way::direct) store(to, cast<T>(piece));
        else if constexpr (Way == way::one_tile)
          store_async(k.w, to, cast<T>(piece), k.scratch.via[0]);
        else store_async(k.w, to, cast<T>(piece), k.scratch.via, j * Parts + part);
      }
      x = x * 2.f + 1.f;
    }
    report(k, a, t.index);
  }
};

template <class T, int R, int V, int Parts, way Way> int check_store(shape s) {
  constexpr int C = V * Parts;
  auto const x = wholes(R * C, 3, 60);
  device_array<float> const dx(x);
  auto const corners = corners_of<T, R, C>(s);
  device_array<corner> const dcorners(corners);
  int const tasks = static_cast<int>(corners.size());
  s.n0 = tasks;
  s.n1 = 2;
  expect_cases const counted(tasks * output_placings);
  for (int p = 0; p < output_placings; ++p) {
    CAPTURE(p);
    placed<T> into(s, placings[p], untouched<T>());
    into.upload();
    run<store_window<T, R, V, Parts, Way>>(
        {tasks, dx.data(), dcorners.data(), be::write_to<R, V>(into.view()), nullptr});
    for (int task = 0; task < tasks; ++task)
      for (int i = 0; i < R * C; ++i) {
        int const row = corners[at(task)].row + i / C, col = corners[at(task)].col + i % C;
        if (!into.holds(row, col)) continue;
        into.element(row, col, task, 0) = to<T>(x[at(i)]);
        into.element(row, col, task, 1) = to<T>(2 * x[at(i)] + 1);
      }
    check_same(into.read(), into.values());
  }
  return tasks * output_placings;
}

template <class T, int R, int V, int Parts, way Way> void check_stores() {
  constexpr int C = V * Parts;
  shape const shapes[] = {
      {R, C, 1, 1}, {2 * R + 3, 2 * C + 5, 1, 1}, {1, 1, 1, 1}, {R - 1, C + 8, 1, 1}, {5, 3, 1, 1}};
  int cases = 0;
  for (auto const& s : shapes) {
    CAPTURE(s.rows);
    CAPTURE(s.cols);
    cases += check_store<T, R, V, Parts, Way>(s);
  }
  CHECK(cases >= 1000);
}

#if TK_SHARD == 0
TEST_CASE_TEMPLATE("16-bit tiles to global windows", T, bf16, fp16) {
  SUBCASE("straight") { check_stores<T, M, 48, 1, way::direct>(); }
  SUBCASE("straight, tall") { check_stores<T, tall, 16, 1, way::direct>(); }
  SUBCASE("through a tile") { check_stores<T, M, 64, 1, way::one_tile>(); }
  SUBCASE("through one tile again and again") { check_stores<T, M, 16, 2, way::one_tile>(); }
  SUBCASE("through tiles in turn") { check_stores<T, M, 32, 3, way::two_tiles>(); }
}
#elif TK_SHARD == 1
TEST_CASE_TEMPLATE("fp8 tiles to global windows", T, fp8_e4m3, fp8_e5m2) {
  SUBCASE("straight") { check_stores<T, M, 96, 1, way::direct>(); }
  SUBCASE("through a tile") { check_stores<T, M, 128, 1, way::one_tile>(); }
  SUBCASE("through tiles in turn") { check_stores<T, M, 32, 2, way::two_tiles>(); }
}
#else
TEST_CASE("fp32 tiles to global windows") {
  SUBCASE("straight") { check_stores<float, M, 48, 1, way::direct>(); }
  SUBCASE("through a tile") { check_stores<float, M, 16, 1, way::one_tile>(); }
  SUBCASE("through tiles in turn") { check_stores<float, M, 32, 2, way::two_tiles>(); }
}
TEST_CASE("tiles of several panels to global windows") {
  SUBCASE("through a tile") { check_stores<bf16, M, 128, 1, way::one_tile>(); }
  SUBCASE("tall, through tiles in turn") { check_stores<bf16, tall, 64, 2, way::two_tiles>(); }
  SUBCASE("tall, through what the chip has for it") {
    check_stores<bf16, 2 * tall, 16, 2, way::staged>();
  }
  SUBCASE("twice a worker's rows") { check_stores<fp16, 2 * M, 32, 1, way::direct>(); }
}
#endif

}  // namespace tk::test
