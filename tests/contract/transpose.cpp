// SPDX-License-Identifier: MIT
// Register tiles read from shared memory transposed, in every element type, for every number of
// panels and of rows; and tensors copied transposed through shared memory, wherever they lie.
#include "core/copy_transposed.hpp"
#include "core/schedule.hpp"
#include "tests/contract/placed.hpp"
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

// A tile for each task.
template <class T, int R, int C> struct copied_transposed : simple_op {
  struct scratch {
    transposing_tile<T, R, C> tile;
  };
  struct args {
    int cases;
    tensor<T> to;
    tensor<T const> from;
    int to_vector_width, from_vector_width, down, across;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const plane = t.index / (a.down * a.across), tile = t.index % (a.down * a.across);
    int const n1 = static_cast<int>(a.from.n1);
    copy_transposed(k.w, k.scratch.tile, a.to, a.to_vector_width, a.from, a.from_vector_width,
                    tile / a.across * R, tile % a.across * C, plane / n1, plane % n1);
    report(k, a, t.index);
  }
};

template <class T, int R, int C> int check_copied(shape s) {
  int const down = ceil_div(s.rows, R), across = ceil_div(s.cols, C);
  int const tasks = down * across * s.n0 * s.n1;
  int const cases = tasks * static_cast<int>(std::size(placings));
  expect_cases const counted(cases);
  for (int p = 0; p < static_cast<int>(std::size(placings)); ++p) {
    CAPTURE(p);
    auto const from = placed_input<T>(s, placings[p]);
    placed<T> into({s.cols, s.rows, s.n0, s.n1}, placings[(3 * p + 1) % output_placings],
                   untouched<T>());
    into.upload();
    run<copied_transposed<T, R, C>>({tasks, into.view(), from.input(), vector_width_of(into.view()),
                                     vector_width_of(from.input()), down, across, nullptr});
    for (int i = 0; i < s.n0; ++i)
      for (int j = 0; j < s.n1; ++j)
        for (int row = 0; row < s.rows; ++row)
          for (int col = 0; col < s.cols; ++col)
            into.element(col, row, i, j) = from.value(row, col, i, j);
    check_same(into.read(), into.values());
  }
  return cases;
}

TEST_CASE_TEMPLATE("a tensor is copied transposed", T, float, bf16, fp16, fp8_e4m3, fp8_e5m2) {
  constexpr int line = 128 / sizeof(T);
  int cases = check_copied<T, 16, line>({53, 2 * line + 3, 2, 1});
  cases += check_copied<T, 64, line>({128, line, 1, 2});
  cases += check_copied<T, 32, 2 * line>({31, 2 * line + 8, 2, 2});
  cases += check_copied<T, 16, line>({1, 1, 1, 1});
  CHECK(cases >= 200);
}

}  // namespace tk::test
