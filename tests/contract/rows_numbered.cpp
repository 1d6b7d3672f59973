// SPDX-License-Identifier: MIT
// shards: 4
// shards on a host: 3
// timeout: 600
// The row template (core/row_kernel.hpp) where a number of each row says which row of a table an
// input is, and where an element stands for two columns and pairs of columns are rotated: classes,
// layouts and rows as in rows_reduced.cpp; numbers of 32 and 64 bits, absent, and of no row.
#include "tests/contract/row_problems.hpp"

namespace tk::test {

// Row i of input Which is row (number + i % modulus) of a table.
template <int Which> struct gathered {
  static constexpr int inputs = 2, outputs = 2, vectors = 0, held = 1, values = 2;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> y{};
  template <int> using input = bf16;
  template <int I> using output = std::conditional_t<I == 0, bf16, float>;
  static TK_BOTH constexpr int number_of(int i) { return i == Which ? 0 : -1; }
  struct args {
    int modulus, column;
  };
  static TK_BOTH std::int64_t place(args const& a, std::int64_t number, int i) {
    return number + i % a.modulus;
  }
  static int passes(args const&) { return 2; }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    auto const sum = rows.sum([](auto const& p) { return p(x) + p(y) * 2.f; });
    typename Rows::columns at;
    for (int& e : at.e) e = a.column;
    typename Rows::column const there = rows.element(row_input<Which>{}, at);
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p(x) * 2.f - p(y));
      p.write(row_output<1>{}, p(x) + p(y) - sum);
    });
    rows.put(row_value<1>{}, there);
  }
};

// A table of one element for two columns, and pairs that are rotated.
struct paired {
  static constexpr int inputs = 3, outputs = 1, vectors = 0, held = 1, values = 1;
  static constexpr bool pairs = true;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> narrow{};
  static constexpr row_input<2> wide{};
  template <int I> using input = std::conditional_t<I == 2, float, bf16>;
  template <int> using output = float;
  static TK_BOTH constexpr int columns_each(int i) { return i == 0 ? 1 : 2; }
  static TK_BOTH constexpr int number_of(int i) { return i == 0 ? -1 : 0; }
  struct args {
    int modulus;
  };
  static TK_BOTH std::int64_t place(args const& a, std::int64_t number, int i) {
    return number + i % a.modulus;
  }
  static int passes(args const&) { return 2; }
  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    auto const sum = rows.sum([](auto const& p) { return p(narrow); });
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p.rotate_pairs(p(x) + p(wide)) * p(narrow) + p(wide) * 2.f - sum);
    });
  }
};

inline constexpr int table_rows = 5, modulus = 3;

// Of nine rows, three are in no table: before it, after it, and far from it.
template <class N> N number_at(int row) {
  switch (row % 9) {
    case 0: return -4;
    case 4: return table_rows;
    case 7: return std::numeric_limits<N>::max() / 2;
    default: return static_cast<N>(row * 5 % (table_rows + 2) - 2);
  }
}
enum class numbers_are { absent, of_32_bits, of_64_bits };

// What a case reads: rows of `shape`, or of a table by numbers.
template <class T> struct table_case {
  row_operand<T> operand;
  row_layout shape;
  numbers_are by;

  table_case(row_layout l, int each, numbers_are n, int seed) : operand(l), shape(l), by(n) {
    auto table = l;
    if (by != numbers_are::absent)
      table.n0 = table.n1 = 1, table.rows = table_rows, table.gap = table.outer_gap = 0;
    table.width = l.width / each;
    table.padding = l.padding + l.width % each;
    operand = row_operand<T>::of(table, [=](int r, int c) {
      return whole(static_cast<std::uint64_t>(seed), std::int64_t{r} * 70000 + c, 1);
    });
  }
  template <class Op> void put(row_problem<Op>& problem, int i) const {
    problem.in[i] = operand.view();
    if (by == numbers_are::absent) return;
    auto& view = problem.in[i];
    problem.tables[i] = {table_rows, view.row_stride};
    view.outer = shape.n0, view.middle = shape.n1, view.rows = shape.rows;
    view.outer_stride = view.middle_stride = view.row_stride = 0;
  }
  // 0 where the table has no such row.
  float operator()(int row, int col) const {
    if (by == numbers_are::absent) return operand(row, col);
    auto const number =
        by == numbers_are::of_32_bits ? number_at<std::int32_t>(row) : number_at<std::int64_t>(row);
    auto const at = number + row % modulus;
    return at < 0 || at >= table_rows ? 0.f : operand(static_cast<int>(at), col);
  }
};

template <class Op, int Class, bool Shifted, class Check>
void with_numbers(row_layout const& shape, numbers_are by, Check check) {
  auto value_shape = shape;
  value_shape.width = 1, value_shape.padding = 2;
  auto const narrow = row_operand<std::int32_t>::of(
      value_shape, [](int r, int) { return number_at<std::int32_t>(r); });
  auto const wide = row_operand<std::int64_t>::of(
      value_shape, [](int r, int) { return number_at<std::int64_t>(r); });
  row_tensor_view numbers{};
  if (by == numbers_are::of_32_bits) numbers = narrow.view();
  if (by == numbers_are::of_64_bits) numbers = wide.view();
  CAPTURE(Class);
  CAPTURE(Shifted);
  CAPTURE(shape.width);
  CAPTURE(shape.all_rows());
  CAPTURE(static_cast<int>(by));
  check(numbers);
  ++cases_ran;
}

template <int Which, int Class, bool Shifted>
void check_gathered(row_layout const& shape, numbers_are by) {
  using op = gathered<Which>;
  auto const number = [](int r, int c) { return whole(5, std::int64_t{r} * 70000 + c, 1); };
  with_numbers<op, Class, Shifted>(shape, by, [&](row_tensor_view const& numbers) {
    auto const plain = row_operand<bf16>::of(shape, number);
    table_case<bf16> const table(shape, 1, by, 6);
    auto first = row_operand<bf16>::result(shape);
    auto second = row_operand<float>::result(shape);
    auto value_shape = shape;
    value_shape.width = 1;
    auto there = row_operand<float>::result(value_shape);
    int const column = shape.width / 2;
    row_problem<op> problem{{modulus, column}, {}, {first.view(), second.view()}};
    problem.in[1 - Which] = plain.view();
    table.put(problem, Which);
    problem.values[0] = numbers;
    problem.values[1] = there.view();
    run_class<op, Class, Shifted>(problem);
    for (int r = 0; r < shape.all_rows(); ++r) {
      auto const x = [&](int c) { return Which == 0 ? table(r, c) : plain(r, c); };
      auto const y = [&](int c) { return Which == 1 ? table(r, c) : plain(r, c); };
      float sum = 0;
      for (int c = 0; c < shape.width; ++c) sum += x(c) + y(c) * 2;
      for (int c = 0; c < shape.width; ++c) {
        first.expect(r, c, x(c) * 2 - y(c));
        second.expect(r, c, x(c) + y(c) - sum);
      }
      there.expect(r, 0, table(r, column));
    }
    first.check();
    second.check();
    there.check();
  });
}

template <int Class, bool Shifted> void check_paired(row_layout const& shape, numbers_are by) {
  auto const number = [](int r, int c) { return whole(7, std::int64_t{r} * 70000 + c, 1); };
  with_numbers<paired, Class, Shifted>(shape, by, [&](row_tensor_view const& numbers) {
    auto const x = row_operand<bf16>::of(shape, number);
    table_case<bf16> const narrow(shape, 2, by, 8);
    table_case<float> const wide(shape, 2, by, 9);
    auto out = row_operand<float>::result(shape);
    row_problem<paired> problem{{modulus}, {x.view()}, {out.view()}};
    narrow.put(problem, 1);
    wide.put(problem, 2);
    problem.values[0] = numbers;
    run_class<paired, Class, Shifted>(problem);
    for (int r = 0; r < shape.all_rows(); ++r) {
      float sum = 0;
      for (int c = 0; c < shape.width; ++c) sum += narrow(r, c / 2);
      for (int c = 0; c < shape.width; ++c) {
        float const other = x(r, c ^ 1) + wide(r, c / 2), rotated = c % 2 == 0 ? -other : other;
        out.expect(r, c, rotated * narrow(r, c / 2) + wide(r, c / 2) * 2 - sum);
      }
    }
    out.check();
  });
}

// Of whole rows, the table's begin and end at multiples of 16 bytes, too.
template <class Op, int Class, bool Shifted, class Check> void check_class(Check check) {
  using kernel = row_kernel<Op, Class, Shifted>;
  auto const widths = widths_of<Op, Class, Shifted>();
  std::set<int> some;
  constexpr int step = !has_pairs<Op>() ? 1 : kernel::whole ? 16 : 2;
  for (int const width : {*widths.begin(), *widths.rbegin()})
    some.insert(std::max(step, width / step * step));
  expect_cases const counted(static_cast<int>(some.size()) * 4);
  for (int const width : some) {
    auto const shifted = [&](row_layout shape) {
      if (Shifted) shape.padding += 3, shape.first += 5;
      return shape;
    };
    check(shifted({.rows = kernel::group + 1, .width = width}), numbers_are::of_64_bits);
    check(shifted({.n0 = 3, .n1 = 2, .rows = 3, .width = width, .padding = 16, .gap = 16}),
          numbers_are::of_32_bits);
    check(shifted({.n0 = 2, .n1 = 3, .rows = 5, .width = width, .gap = 16, .outer_gap = 32}),
          numbers_are::of_64_bits);
    check(shifted({.n0 = 2, .n1 = 2, .rows = 2, .width = width, .gap = 16}), numbers_are::absent);
  }
}

TEST_CASE("rows of tables") {
  for_each_class<gathered<0>, TK_SHARD, TK_SHARDS>([](auto c, auto shifted) {
    check_class<gathered<0>, c, shifted>([](auto const& shape, auto by) {
      check_gathered<0, decltype(c)::value, decltype(shifted)::value>(shape, by);
    });
    check_class<gathered<1>, c, shifted>([](auto const& shape, auto by) {
      check_gathered<1, decltype(c)::value, decltype(shifted)::value>(shape, by);
    });
  });
}
TEST_CASE("pairs of columns") {
  for_each_class<paired, TK_SHARD, TK_SHARDS>([](auto c, auto shifted) {
    check_class<paired, c, shifted>([](auto const& shape, auto by) {
      check_paired<decltype(c)::value, decltype(shifted)::value>(shape, by);
    });
  });
}

}  // namespace tk::test
