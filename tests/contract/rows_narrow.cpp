// SPDX-License-Identifier: MIT
// shards: 5
// shards on a host: 3
// timeout: 600
// The row template (core/row_kernel.hpp) with results of 1 byte beside inputs of 2 and of 4, and
// with booleans read beside both: every class, rows that begin at places of their own in each
// operand's chunks, and values per row.
#include "tests/contract/row_problems.hpp"

namespace tk::test {

// The largest of each row, and what is below it: by as much as fp8 holds. One output alone is of
// either fp8, as the arguments say.
template <class T, bool Two> struct narrow {
  static constexpr int inputs = 1, outputs = Two ? 2 : 1, vectors = 0, held = 1, values = 1;
  static constexpr row_input<0> x{};
  template <int> using input = T;
  template <int I> using output = std::conditional_t<I == 0, fp8_e4m3, fp8_e5m2>;
  struct args {
    int e5m2;  // a flag, but a word
  };
  static int passes(args const&) { return 2; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    auto const most = rows.max([](auto const& p) { return abs(p(x)); });
    rows.each([&](auto const& p) {
      if constexpr (Two) {
        p.write(row_output<0>{}, p(x) - most);
        p.write(row_output<1>{}, p(x) * 0.25f);
      } else {
        p.template write_either<fp8_e5m2>(row_output<0>{}, p(x) - most, a.e5m2);
      }
    });
    rows.put(row_value<0>{}, most);
  }
};

// Elements that an operand lies further on, and that its rows are longer.
struct moved {
  int first, padding;
  row_layout operator()(row_layout x) const {
    x.first += first, x.padding += padding;
    return x;
  }
};

template <class T, bool Two, int Class, bool Shifted, class Y = fp8_e4m3>
void check_narrow(row_layout const& shape, moved from, moved to, bool chosen = false) {
  using op = narrow<T, Two>;
  constexpr bool e5m2 = std::is_same_v<Y, fp8_e5m2>;
  if constexpr (!Two && !e5m2)
    if ((shape.width / 8 + to.first) % 2)
      return check_narrow<T, Two, Class, Shifted, fp8_e5m2>(shape, from, to, chosen);
  auto each = shape;
  each.width = 1, each.padding = each.gap = each.outer_gap = 0;
  auto const number = [](int r, int c) { return whole(1, std::int64_t{r} * 70000 + c, 7); };
  auto const x = row_operand<T>::of(from(shape), number);
  auto first = row_operand<Y>::result(to(shape));
  auto second = row_operand<fp8_e5m2>::result(to(shape));
  auto most = row_operand<float>::result(each);
  row_problem<op> problem{{e5m2}, {x.view()}, {first.view()}};
  if constexpr (Two) problem.out[1] = second.view();
  problem.values[0] = most.view();
  if (chosen) run_rows(problem);
  else run_class<op, Class, Shifted>(problem);

  for (int r = 0; r < shape.all_rows(); ++r) {
    float top = shape.width > 0 ? 0 : -inf;
    for (int c = 0; c < shape.width; ++c) top = std::max(top, std::fabs(x(r, c)));
    for (int c = 0; c < shape.width; ++c) {
      first.expect(r, c, x(r, c) - top);
      if (Two) second.expect(r, c, x(r, c) / 4);
    }
    most.expect(r, 0, top);
  }
  CAPTURE(Class);
  CAPTURE(Shifted);
  CAPTURE(shape.width);
  CAPTURE(from.first);
  CAPTURE(to.first);
  first.check();
  second.check();
  most.check();
  ++cases_ran;
}

template <class T, bool Two, int Class, bool Shifted> void check_class() {
  using op = narrow<T, Two>;
  using kernel = row_kernel<op, Class, Shifted>;
  auto const widths = widths_of<op, Class, Shifted>();
  constexpr moved none{0, 0};
  expect_cases const counted(static_cast<int>(widths.size()) + (Shifted ? 5 : 2));
  // Of rows that begin and end at multiples of 16 bytes some are longer.
  for (int const width : widths)
    check_narrow<T, Two, Class, Shifted>({.rows = kernel::group + 1, .width = width}, none, none);
  int const width = *std::next(widths.begin());
  check_narrow<T, Two, Class, Shifted>(
      {.n0 = 2, .n1 = 3, .rows = 3, .width = width, .gap = 16, .outer_gap = 16}, none, none);
  check_narrow<T, Two, Class, Shifted>({.rows = kernel::group + 1, .width = width}, none, {8, 8});
  if constexpr (Shifted) {  // rows that lie anywhere in both, as in the other, and in one
    row_layout const rows{.rows = kernel::group + 1, .width = width};
    check_narrow<T, Two, Class, Shifted>(rows, {5, 3}, {2, 1});
    check_narrow<T, Two, Class, Shifted>(rows, {5, 3}, {5, 3});
    check_narrow<T, Two, Class, Shifted>(rows, none, {3, 5});
  }
}

// ---- inputs of 1 byte
// x where a boolean is true, else 8, and the sum of x there.
template <class T> struct chosen {
  static constexpr int inputs = 2, outputs = 1, vectors = 0, held = 1, values = 1;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> which{};
  template <int I> using input = std::conditional_t<I == 0, T, boolean>;
  template <int> using output = T;
  struct args {
    int unused;
  };
  static int passes(args const&) { return 2; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    auto const sum = rows.sum([](auto const& p) { return p(x) * p(which); });
    rows.each(
        [&](auto const& p) { p.write(row_output<0>{}, p(x) * p(which) + 8.f - p(which) * 8.f); });
    rows.put(row_value<0>{}, sum);
  }
};

// Numbers are whole, from -1 to 1, so that sums are exact. Around rows booleans are true.
template <class T, int Class, bool Shifted>
void check_chosen(row_layout const& shape, moved from, moved by, bool by_launch = false) {
  using op = chosen<T>;
  auto each = shape;
  each.width = 1, each.padding = each.gap = each.outer_gap = 0;
  auto const number = [](int r, int c) { return whole(1, std::int64_t{r} * 70000 + c, 1); };
  auto const coin = [](int r, int c) {
    return whole(2, std::int64_t{r} * 70000 + c, 1) > 0 ? 1.f : 0.f;
  };
  auto const x = row_operand<T>::of(from(shape), number);
  auto const which = row_operand<boolean>::of(by(shape), coin);
  auto y = row_operand<T>::result(from(shape));
  auto sums = row_operand<float>::result(each);
  row_problem<op> problem{{0}, {x.view(), which.view()}, {y.view()}};
  problem.values[0] = sums.view();
  if (by_launch) run_rows(problem);
  else run_class<op, Class, Shifted>(problem);

  for (int r = 0; r < shape.all_rows(); ++r) {
    float sum = 0;
    for (int c = 0; c < shape.width; ++c) {
      sum += x(r, c) * coin(r, c);
      y.expect(r, c, coin(r, c) != 0 ? x(r, c) : 8.f);
    }
    sums.expect(r, 0, sum);
  }
  CAPTURE(Class);
  CAPTURE(Shifted);
  CAPTURE(shape.width);
  CAPTURE(from.first);
  CAPTURE(by.first);
  y.check();
  sums.check();
  ++cases_ran;
}

template <class T, int Class, bool Shifted> void check_chosen_class() {
  using kernel = row_kernel<chosen<T>, Class, Shifted>;
  auto const widths = widths_of<chosen<T>, Class, Shifted>();
  constexpr moved none{0, 0};
  expect_cases const counted(static_cast<int>(widths.size()) + (Shifted ? 6 : 2));
  for (int const width : widths)
    check_chosen<T, Class, Shifted>({.rows = kernel::group + 1, .width = width}, none, none);
  int const width = *std::next(widths.begin());
  check_chosen<T, Class, Shifted>(
      {.n0 = 2, .n1 = 3, .rows = 3, .width = width, .gap = 16, .outer_gap = 16}, none, none);
  row_layout const rows{.rows = kernel::group + 1, .width = width};
  check_chosen<T, Class, Shifted>(rows, none, {8, 8});
  if constexpr (Shifted) {
    check_chosen<T, Class, Shifted>(rows, {5, 3}, {2, 1});
    check_chosen<T, Class, Shifted>(rows, {5, 3}, {5, 3});
    check_chosen<T, Class, Shifted>(rows, none, {3, 5});
    check_chosen<T, Class, Shifted>(rows, {8, 8}, {7, 8});
  }
}

TEST_CASE_TEMPLATE("inputs of 1 byte", T, bf16, float) {
  for_each_class<chosen<T>, TK_SHARD, TK_SHARDS>(
      [](auto c, auto shifted) { check_chosen_class<T, c, shifted>(); });
}
TEST_CASE("booleans at any place") {
  if constexpr (TK_SHARD != 0) {
    expect_cases const counted(0);
  } else {
    expect_cases const counted(8 * 8 * 2);
    for (int const width : {0, 1, 7, 8, 129, 136, 1000, 4100})
      for (int from = 0; from < 8; ++from) {
        moved const at{from, from % 3}, by{(3 * from) % 8, from % 4};
        check_chosen<bf16, 0, false>({.rows = 5, .width = width}, at, by, true);
        check_chosen<float, 0, false>({.rows = 5, .width = width}, at, by, true);
      }
  }
}

TEST_CASE_TEMPLATE("results of 1 byte", T, bf16, float) {
  for_each_class<narrow<T, true>, TK_SHARD, TK_SHARDS>(
      [](auto c, auto shifted) { check_class<T, true, c, shifted>(); });
}
TEST_CASE("one result of 1 byte") {
  for_each_class<narrow<bf16, false>, TK_SHARD, TK_SHARDS>(
      [](auto c, auto shifted) { check_class<bf16, false, c, shifted>(); });
}
TEST_CASE("rows at any place") {
  if constexpr (TK_SHARD != 0) {
    expect_cases const counted(0);
  } else {
    expect_cases const counted(8 * 8 * 2);
    for (int const width : {0, 1, 7, 8, 129, 136, 1000, 4100})
      for (int from = 0; from < 8; ++from) {
        moved const at{from, from % 3}, to{(3 * from) % 8, from % 4};
        check_narrow<bf16, false, 0, false>({.rows = 5, .width = width}, at, to, true);
        check_narrow<float, false, 0, false>({.rows = 5, .width = width}, at, to, true);
      }
  }
}

}  // namespace tk::test
