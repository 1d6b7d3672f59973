// SPDX-License-Identifier: MIT
// shards: 5
// shards on a host: 3
// timeout: 600
// p.keep_random of the row template: the bytes are those of the row's number among all rows and of
// the column, by core/random.hpp's definition for rows, in other words than the device's; in every
// class, whatever the layout: rows abreast, counted, shifted, in pieces, shared by workers, of
// several matrices. Classes, layouts and rows as in rows_reduced.cpp.
#include "tests/contract/row_problems.hpp"
#include "tests/support/philox.hpp"

namespace tk::test {

struct dropping {
  static constexpr int inputs = 1, outputs = 2, vectors = 0, held = 1;
  static constexpr row_input<0> x{};
  template <int> using input = bf16;
  template <int I> using output = std::conditional_t<I == 0, bf16, float>;
  struct args {
    std::uint64_t seed, offset;
    unsigned below;
    int unused;
  };
  static int passes(args const&) { return 2; }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    auto const plane = random_plane_of(a.seed, a.offset, random_rows);
    auto const kept = rows.keep([plane, below = a.below](auto const& p) {
      return p.keep_random(p(x), plane, below) * 2.f;
    });
    auto const sum = rows.sum([&](auto const& p) { return p(kept); });
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p(kept));
      p.write(row_output<1>{}, p.keep_random(p(x) - sum, plane, a.below) + 1.f);
    });
  }
};

template <int Class, bool Shifted>
void check_dropping(row_layout const& shape, unsigned below = 77, bool late = false) {
  std::uint64_t const seed = 0x123456789abcdef0 + static_cast<unsigned>(shape.width),
                      offset = 0xfedcba9876543210;
  auto const x = row_operand<bf16>::of(
      shape, [](int r, int c) { return 2 + whole(1, std::int64_t{r} * 70000 + c, 1); });
  auto first = row_operand<bf16>::result(shape);
  auto second = row_operand<float>::result(shape);
  row_problem<dropping> problem{
      {seed, offset, below, 0}, {x.view()}, {first.view(), second.view()}};
  run_class<dropping, Class, Shifted>(problem, late);
  for (int r = 0; r < shape.all_rows(); ++r) {
    std::vector<char> kept(at(shape.width));
    float sum = 0;
    for (int c = 0; c < shape.width; ++c) {
      kept[at(c)] = random_byte_of_row(seed, offset, r, c) >= below;
      sum += kept[at(c)] ? 2 * x(r, c) : 0;
    }
    for (int c = 0; c < shape.width; ++c) {
      first.expect(r, c, kept[at(c)] ? 2 * x(r, c) : 0.f);
      second.expect(r, c, kept[at(c)] ? x(r, c) - sum + 1 : 1.f);
    }
  }
  CAPTURE(Class);
  CAPTURE(Shifted);
  CAPTURE(shape.width);
  CAPTURE(shape.all_rows());
  CAPTURE(below);
  first.check();
  second.check();
  ++cases_ran;
}

template <int Class, bool Shifted> void check_class() {
  using kernel = row_kernel<dropping, Class, Shifted>;
  constexpr int group = kernel::group;
  auto const widths = widths_of<dropping, Class, Shifted>();
  expect_cases const counted(static_cast<int>(widths.size()) + 5);
  auto const check = [&](row_layout shape, auto... more) {
    if (Shifted) shape.padding += 3, shape.first += 5;
    check_dropping<Class, Shifted>(shape, more...);
  };
  for (int const width : widths) check({.rows = group + 1, .width = width});
  int const least = *widths.begin(), width = *std::next(widths.begin());
  check({.n0 = 2, .n1 = 2, .rows = 3, .width = width, .gap = 16, .outer_gap = 16});
  check({.n0 = 3, .n1 = 2, .rows = group + 1, .width = width, .padding = 8, .gap = 16}, 200u);
  check({.rows = 2, .width = width}, 0u);
  check({.rows = 2 * group + 1, .width = width}, 255u);
  check({.rows = rows_with_late_tasks<kernel>(), .width = least}, 128u, true);
}

TEST_CASE("random bytes of rows are those of their coordinates") {
  for_each_class<dropping, TK_SHARD, TK_SHARDS>(
      [](auto c, auto shifted) { check_class<c, shifted>(); });
}

#if TK_SHARD == 0
TEST_CASE("a run of columns from anywhere") {
  expect_cases const counted(0);
  auto const plane = random_plane_of(5, 7, random_rows);
  for (int row = 0; row < 3; ++row)
    for (int col = 0; col < 64; ++col) {
      auto const run = draw_run<false>(plane, row, col);
      for (int i = 0; i < 8; ++i)
        REQUIRE((run.w[i / 4] >> i % 4 * 8 & 255) == random_byte_of_row(5, 7, row, col + i));
      if (col % 8 != 0) continue;
      auto const aligned = draw_run<true>(plane, row, col);
      CHECK(aligned.w[0] == run.w[0]);
      CHECK(aligned.w[1] == run.w[1]);
    }
}
#endif

}  // namespace tk::test
