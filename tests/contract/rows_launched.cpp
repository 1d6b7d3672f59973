// SPDX-License-Identifier: MIT
// timeout: 600
// launch_rows (ops/row_launch.hpp): a small op over the widths at which its classes begin and end,
// in rows that begin and end at multiples of 16 bytes and in such that do not; few rows, and so
// many that some are dealt late.
#include "tests/contract/row_problems.hpp"

namespace tk::test {

struct centred {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1;
  template <int> using input = bf16;
  template <int> using output = float;
  struct args {
    float factor;
  };
  static int passes(args const&) { return 2; }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    row_input<0> const x{};
    auto const sum = rows.sum([&](auto const& p) { return p(x); });
    rows.each([&](auto const& p) { p.write(row_output<0>{}, p(x) * a.factor - sum); });
  }
};

// Nothing is reduced: one call reads and writes.
struct doubled {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1;
  template <int> using input = bf16;
  template <int> using output = bf16;
  struct args {
    int unused;
  };
  static int passes(args const&) { return 1; }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    row_input<0> const x{};
    rows.each([&](auto const& p) { p.write(row_output<0>{}, p(x) * 2.f); });
  }
};

void check_doubled(row_layout const& shape) {
  auto const x = row_operand<bf16>::of(
      shape, [](int r, int c) { return whole(12, std::int64_t{r} * 70000 + c, 3); });
  auto out = row_operand<bf16>::result(shape);
  run_rows<doubled>({{0}, {x.view()}, {out.view()}});
  for (int r = 0; r < shape.all_rows(); ++r)
    for (int c = 0; c < shape.width; ++c) out.expect(r, c, x(r, c) * 2);
  CAPTURE(shape.width);
  out.check();
  ++cases_ran;
}

void check_centred(row_layout const& shape) {
  auto const x = row_operand<bf16>::of(
      shape, [](int r, int c) { return whole(11, std::int64_t{r} * 70000 + c, 3); });
  auto out = row_operand<float>::result(shape);
  run_rows<centred>({{5.f}, {x.view()}, {out.view()}});
  for (int r = 0; r < shape.all_rows(); ++r) {
    float sum = 0;
    for (int c = 0; c < shape.width; ++c) sum += x(r, c);
    for (int c = 0; c < shape.width; ++c) out.expect(r, c, x(r, c) * 5 - sum);
  }
  CAPTURE(shape.width);
  CAPTURE(shape.all_rows());
  CAPTURE(shape.padding);
  CAPTURE(shape.first);
  out.check();
  ++cases_ran;
}

template <int Class = 0> void edges(std::set<int>& widths) {
  if constexpr (Class <= be::row_classes(load_of<centred>)) {
    int const most = row_kernel<centred, Class, false>::span;
    for (int const width : {most - 8, most - 7, most - 6, most - 1, most, most + 1})
      widths.insert(width);
    edges<Class + 1>(widths);
  }
}

TEST_CASE("the class of rows follows from their width") {
  std::set<int> widths{1, 2, 8};
  edges(widths);
  expect_cases const counted(3 * static_cast<int>(widths.size()));
  for (int const width : widths) {
    check_centred({.n1 = 2, .rows = 3, .width = width, .gap = 16});
    check_centred({.rows = 5, .width = width, .padding = 24 - width % 8});
    check_centred({.rows = 5, .width = width, .padding = 3, .first = 1});
  }
}
TEST_CASE("rows that are written as they are read") {
  std::set<int> widths{1, 8};
  edges(widths);
  expect_cases const counted(static_cast<int>(widths.size()));
  for (int const width : widths) {
    int const rows = width < 20000 ? 40 * be::rt::multiprocessors() + 3 : 7;
    check_doubled({.rows = rows, .width = width, .padding = 24 - width % 8});
  }
}
TEST_CASE("many rows") {
  expect_cases const counted(3);
  using narrow = row_kernel<centred, 0, false>;
  int const rows = rows_with_late_tasks<narrow>();
  check_centred({.rows = rows, .width = 8});
  check_centred({.rows = rows, .width = 9});
  // Groups after the last would be in a matrix after the last.
  check_centred(
      {.n0 = 3, .n1 = 2, .rows = rows / 4, .width = 16, .padding = 8, .gap = 8, .outer_gap = 16});
}

}  // namespace tk::test
