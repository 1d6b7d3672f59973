// SPDX-License-Identifier: MIT
// shards: 4
// Tiles from global to shared memory: windows inside, across each edge and outside; sources of
// every alignment and with strides that no bulk copy takes (odd, zero, negative), of rank four,
// empty, very long. What lies outside a tensor must come as zero; the memory around it is NaN.
#include "tests/contract/placed.hpp"

namespace tk::test {

template <class T, int R, int C, bool Shared> struct load_window : simple_op {
  static constexpr int stages = 2;
  struct stage {
    shared_tile<T, R, C> tile;
  };
  struct args {
    int cases;
    be::source<T, R, C> from;
    corner const* corners;
    T* out;
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 1}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int, be::arrival done) {
    corner const w = a.corners[t.index];
    if constexpr (Shared) load_shared(s.tile, window(a.from, w.row, w.col, w.i, w.j), done);
    else load_async(s.tile, window(a.from, w.row, w.col, w.i, w.j), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<T, R, C> x;
    tk::load(x, k.in.take().tile);
    k.w.sync();
    k.in.release();
    write_tile(a.out, t.index, x * 1.f);
    report(k, a, t.index);
  }
};

template <class T, int R, int C, bool Shared> int check_load(shape s) {
  auto const corners = corners_of<T, R, C>(s);
  int const tasks = static_cast<int>(corners.size());
  int const cases = tasks * static_cast<int>(std::size(placings));
  expect_cases const counted(cases);
  for (auto const& p : placings) {
    auto const from = placed_input<T>(s, p);
    device_array<corner> const dcorners(corners);
    device_array<T> const out(untouched<T>(corners.size() * R * C));
    CAPTURE(&p - placings);
    run<load_window<T, R, C, Shared>>(
        {tasks, be::read_from<R, C>(from.input()), dcorners.data(), out.data(), nullptr});
    std::vector<T> expected;
    for (auto const& w : corners)
      for (int i = 0; i < R * C; ++i)
        expected.push_back(from.value(w.row + i / C, w.col + i % C, w.i, w.j));
    check_same(out.read(), expected);
  }
  return cases;
}

template <class T, int R, int C> void check_loads() {
  shape const shapes[] = {{R, C, 1, 1}, {2 * R + 3, 2 * C + 5, 2, 3},
                          {1, 1, 1, 1}, {R - 1, C + 8, 3, 1},
                          {5, 3, 2, 2}, {3 * R, 17, 1, 2}};
  int cases = 0;
  for (auto const& s : shapes) {
    CAPTURE(s.rows);
    CAPTURE(s.cols);
    cases += check_load<T, R, C, false>(s);
  }
  cases += check_load<T, R, C, true>(shapes[1]);
  CHECK(cases >= 2000);
}

#if TK_SHARD == 0
TEST_CASE("windows of bf16") {
  SUBCASE("wide panels") { check_loads<bf16, M, 64>(); }
  SUBCASE("several panels") { check_loads<bf16, M, 128>(); }
  SUBCASE("tall") { check_loads<bf16, tall, 16>(); }
}
// A row of more bytes than an int counts, of which only those that the window has are there.
TEST_CASE("the first columns of 2^30") {
  expect_cases const counted(1);
  constexpr int C = 64;
  auto expected = wholes<bf16>(C, 3);
  device_array<bf16> const there(expected), out(untouched<bf16>(M * C));
  device_array<corner> const corners(std::vector<corner>(1));
  tensor<bf16 const> const row{there.data(), 1, (1 << 30) + C, C};
  run<load_window<bf16, M, C, false>>(
      {1, be::read_from<M, C>(row), corners.data(), out.data(), nullptr});
  expected.resize(M * C);
  check_same(out.read(), expected);
}
#elif TK_SHARD == 1
TEST_CASE("windows of fp16") {
  SUBCASE("narrow panels") { check_loads<fp16, M, 48>(); }
  SUBCASE("middle panels") { check_loads<fp16, M, 96>(); }
  SUBCASE("one narrow panel") { check_loads<fp16, M, 32>(); }
}
#elif TK_SHARD == 2
TEST_CASE("windows of fp8") {
  SUBCASE("wide panels") { check_loads<fp8_e4m3, M, 128>(); }
  SUBCASE("several panels") { check_loads<fp8_e5m2, M, 256>(); }
  SUBCASE("narrow panels") { check_loads<fp8_e4m3, M, 96>(); }
  SUBCASE("tall") { check_loads<fp8_e5m2, tall, 32>(); }
}
#else
TEST_CASE("windows of fp32") {
  SUBCASE("wide panels") { check_loads<float, M, 32>(); }
  SUBCASE("narrow panels") { check_loads<float, M, 48>(); }
  SUBCASE("twice a worker's rows") { check_loads<float, 2 * M, 16>(); }
}
#endif

}  // namespace tk::test
