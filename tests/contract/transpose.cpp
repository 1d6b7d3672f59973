// SPDX-License-Identifier: MIT
// Register tiles read from shared memory transposed, in every element type, for every number of
// panels and of rows.
#include "tests/contract/support.hpp"
#include "tests/core/shapes.hpp"

namespace tk::test {

template <class T, int R, int C> struct transposed : simple_op {
  struct stage {
    shared_tile<T, C, R> tile;
  };
  struct args {
    int cases;
    be::source<T, C, R> from;
    T* out;
    int* ran;
  };
  static TK_BOTH task task_at(args const&, int i, int) { return {i, 1}; }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int, be::arrival done) {
    load_async(s.tile, window(a.from, t.index * C), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    reg_tile<T, R, C> x;
    load_transposed(x, k.in.take().tile);
    k.w.sync();
    k.in.release();
    write_tile(a.out, t.index, x * 1.f);
    report(k, a, t.index);
  }
};

template <class T, int R, int C> void check_transposed() {
  constexpr int tasks = 3, size = R * C;
  auto const x = wholes<T>(tasks * size, R + C, 200);
  device_array<T> const dx(x), out(untouched<T>(tasks * size));
  tensor<T const> const from{dx.data(), tasks * C, R, R};
  run<transposed<T, R, C>>({tasks, be::read_from<C, R>(from), out.data(), nullptr});
  std::vector<T> expected;
  for (int tile = 0; tile < tasks; ++tile)
    for (int i = 0; i < size; ++i) expected.push_back(x[at(tile * size + i % C * R + i / C)]);
  check_same(out.read(), expected);
}

TEST_CASE_TEMPLATE("a shared tile is read transposed", T, bf16, fp16, float) {
  expect_cases const counted(3 * (6 + 2 + 2 + 1));
  for_each_int<16, 32, 48, 64, 80, 128>([](auto c) { check_transposed<T, M, c>(); });
  for_each_int<16, 96>([](auto c) { check_transposed<T, tall, c>(); });
  for_each_int<32, 48>([](auto c) { check_transposed<T, 2 * M, c>(); });
  check_transposed<T, 3 * M, 64>();
}
TEST_CASE_TEMPLATE("a shared tile of fp8 is read transposed", T, fp8_e4m3, fp8_e5m2) {
  expect_cases const counted(3 * (3 + 1));
  for_each_int<16, 48, 128>([](auto c) { check_transposed<T, tall, c>(); });
  check_transposed<T, 2 * M, 32>();
}

}  // namespace tk::test
