// SPDX-License-Identifier: MIT
// Masks by coordinates, at every offset for one shape and at many for others: all of a tile kept,
// part, none, and offsets beyond both ends.
#include "core/reduce.hpp"
#include "tests/contract/support.hpp"

namespace tk::test {

enum mask { columns_below, rows_below, lower, upper, band };
inline constexpr int masks = 5, band_width = 19;

template <int R, int C> struct masked : simple_op {
  struct args {
    int cases;  // tasks: offset first + index / masks * every, mask index % masks
    int first, every;
    float const* x;
    float* out;
    int* ran;
  };
  template <class Context> static TK_DEVICE void compute(Context& k, args const& a, task const& t) {
    int const offset = a.first + t.index / masks * a.every;
    reg_tile<float, R, C> x;
    read_tile(x, a.x, 0);
    switch (t.index % masks) {
      case columns_below: keep_cols(x, offset, -inf); break;
      case rows_below: keep_rows(x, offset, -5.f); break;
      case lower: keep_lower(x, offset, -inf); break;
      case upper: keep_upper(x, offset, 0.5f); break;
      default:  // offset <= col - row <= offset + band_width
        keep_lower(x, offset + band_width, -inf);
        keep_upper(x, -offset, -inf);
    }
    write_tile(a.out, t.index, x);
    report(k, a, t.index);
  }
};

template <int R, int C> int check_masks(int every) {
  constexpr int size = R * C, most = (R > C ? R : C) + 2;
  int const offsets = (2 * most) / every + 1, tasks = masks * offsets;
  auto const x = wholes(size, 11, 100);
  device_array<float> const dx(x), out(untouched<float>(at(tasks * size)));
  run<masked<R, C>>({tasks, -most, every, dx.data(), out.data(), nullptr});
  std::vector<float> expected;
  for (int task = 0; task < tasks; ++task)
    for (int i = 0; i < size; ++i) {
      int const offset = -most + task / masks * every, row = i / C, col = i % C;
      int const right = col - row;
      bool const keep[] = {col < offset, row < offset, right <= offset, -right <= offset,
                           offset <= right && right <= offset + band_width};
      float const fill[] = {-inf, -5.f, -inf, 0.5f, -inf};
      expected.push_back(keep[task % masks] ? x[at(i)] : fill[task % masks]);
    }
  check_same(out.read(), expected);
  return tasks;
}

TEST_CASE("masks keep what their coordinates say, at every offset") {
  constexpr int all = 2 * ((M > 16 ? M : 16) + 2) + 1;
  expect_cases const counted(masks * all);
  CHECK(check_masks<M, 16>(1) == masks * all);
}
TEST_CASE("masks of other shapes") {
  auto const offsets = [](int r, int c) { return 2 * ((r > c ? r : c) + 2) / 5 + 1; };
  expect_cases const counted(
      masks * (offsets(M, 80) + offsets(M, 256) + offsets(tall, 48) + offsets(2 * M, 32)));
  check_masks<M, 80>(5);
  check_masks<M, 256>(5);
  check_masks<tall, 48>(5);
  check_masks<2 * M, 32>(5);
}

}  // namespace tk::test
