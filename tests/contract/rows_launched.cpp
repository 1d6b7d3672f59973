// SPDX-License-Identifier: MIT
// timeout: 600
// launch_rows (ops/row_launch.hpp): a small op over the widths at which its classes begin and end,
// in rows that begin and end at multiples of 16 bytes and in such that do not; few rows, and so
// many that some are dealt late. How results are rounded, and results that lie where inputs do.
#include <bit>
#include <iterator>

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

// ---- results
// Numbers of one type and, times a factor of each row, of another.
template <class From, class To> struct rounded {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1, values = 1;
  template <int> using input = From;
  template <int> using output = To;
  struct args {
    int unused;
  };
  static int passes(args const&) { return 1; }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    row_input<0> const x{};
    auto const factor = rows.template value<float>(row_value<0>{}, [](float f) { return f; });
    rows.each([&](auto const& p) { p.write(row_output<0>{}, p(x) * factor); });
  }
};

// Every pattern of To, or what lies halfway to the next one and beside it, times factors that make
// subnormal numbers, infinities, and numbers halfway between others.
template <class From, class To> void check_rounded(int width, int padding) {
  constexpr float factors[] = {1.f,         0x1.01p0f,   0x1.002p0f,   0x1.81p0f,
                               0x1.03p-10f, 0x1.02p-60f, 0x1.01p-120f, 0x1p100f};
  constexpr std::uint32_t half = std::is_same_v<To, bf16> ? 0x8000 : 0x1000,
                          beside[] = {0, half - 1, half, half + 1, 1, 2 * half - 1, 7, half / 2};
  int const rows = 65536 / width + 1, each = static_cast<int>(std::size(factors));
  row_layout const shape{.rows = rows * each, .width = width, .padding = padding};
  auto const number = [&](int r, int c) {
    float const x = tk::widen(To{static_cast<std::uint16_t>(r % rows * width + c)});
    if constexpr (sizeof(From) == 2) return x;
    else return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + beside[r / rows]);
  };
  auto const x = row_operand<From>::of(shape, number);
  auto const by =
      row_operand<float>::of({.rows = shape.rows}, [&](int r, int) { return factors[r / rows]; });
  auto out = row_operand<To>::result(shape);
  row_problem<rounded<From, To>> problem{{0}, {x.view()}, {out.view()}};
  problem.values[0] = by.view();
  run_rows(problem);
  for (int r = 0; r < shape.rows; ++r)
    for (int c = 0; c < width; ++c) out.expect(r, c, x(r, c) * factors[r / rows]);
  CAPTURE(width);
  out.check();
  ++cases_ran;
}
TEST_CASE_TEMPLATE("results are rounded to nearest even", T, bf16, fp16) {
  expect_cases const counted(4);
  check_rounded<T, T>(4096, 0);
  check_rounded<T, T>(4093, 3);
  check_rounded<float, T>(4096, 0);
  check_rounded<float, T>(4093, 3);
}

// Both results of the sum of both inputs.
template <class T> struct joined {
  static constexpr int inputs = 2, outputs = 2, vectors = 0, held = 1;
  template <int> using input = T;
  template <int> using output = T;
  struct args {
    int unused;
  };
  static int passes(args const&) { return 1; }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    row_input<0> const a{};
    row_input<1> const b{};
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p(a) + p(b));
      p.write(row_output<1>{}, (p(a) + p(b)) * 3.f);
    });
  }
};

// The first result lies where operand `first` does, the second where `second` does: inputs, or
// memory of their own.
template <class T> void check_joined(row_layout const& shape, int first, int second) {
  auto const number = [](int seed) {
    return [seed](int r, int c) { return whole(seed, std::int64_t{r} * 70000 + c, 3); };
  };
  auto const a = number(1), b = number(2);
  row_operand<T> all[] = {row_operand<T>::of(shape, a), row_operand<T>::of(shape, b),
                          row_operand<T>::result(shape), row_operand<T>::result(shape)};
  run_rows<joined<T>>(
      {{0}, {all[0].view(), all[1].view()}, {all[first].view(), all[second].view()}});
  for (int r = 0; r < shape.all_rows(); ++r)
    for (int c = 0; c < shape.width; ++c) {
      float const sum = a(r, c) + b(r, c);
      all[first].expect(r, c, sum);
      all[second].expect(r, c, sum * 3);
    }
  CAPTURE(shape.width);
  CAPTURE(first);
  CAPTURE(second);
  for (auto const& x : all) x.check();
  ++cases_ran;
}
TEST_CASE_TEMPLATE("results lie where inputs do", T, float, bf16, fp16) {
  int const widths[] = {8, 128, 1000, 4096, 4101, 20000};
  expect_cases const counted(7 * static_cast<int>(std::size(widths)));
  for (int const width : widths)
    for (int const first : {0, 1, 2})
      for (int const second : {0, 1, 3})
        if (first != second) check_joined<T>({.rows = 5, .width = width}, first, second);
}

}  // namespace tk::test
