// SPDX-License-Identifier: MIT
// shards: 5
// shards on a host: 3
// timeout: 600
// The row template (core/row_kernel.hpp) with an op that sums over rows: each class, a fifth of
// them per shard, for its least, its most and other widths, in rows that begin at multiples of 16
// bytes and anywhere; fewer rows than tasks, and several groups to a task, with tails; sums in fp32
// and rounded once to the type of rows; absent ones. Whole numbers: sums are exact in any order.
#include "tests/contract/row_problems.hpp"

namespace tk::test {

template <class T> struct summed {
  static constexpr int inputs = 2, outputs = 1, vectors = 1, held = 2, sums = 2;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> y{};
  static TK_BOTH constexpr float vector_default(int) { return 1.f; }
  template <int> using input = T;
  template <int> using output = T;
  struct args {
    int unused;
  };
  static int passes(args const&) { return 2; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    auto const product = rows.keep([](auto const& p) { return p(x) * p(row_vector<0>{}); });
    auto const sum = rows.sum([&](auto const& p) { return p(product) + p(y); });
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p(y) + sum);
      p.add(column_sum<0>{}, p(product) - p(y) * 3.f);
      p.add(column_sum<1>{}, p(y) + 2.f);
    });
  }
};

template <class T, int Class, bool Shifted>
void check_summed(row_layout const& shape, bool has_second = true, bool has_vector = true) {
  using op = summed<T>;
  int const width = shape.width;
  auto const number = [](int seed) {
    return [=](int r, int c) {
      return whole(static_cast<std::uint64_t>(seed), std::int64_t{r} * 70000 + c, 1);
    };
  };
  auto const x = row_operand<T>::of(shape, number(5)), y = row_operand<T>::of(shape, number(6));
  auto out = row_operand<T>::result(shape);
  auto const of_column = column_values<float>(width, 9);
  device_array<T> const vector(column_values<T>(width, 9));
  auto first = untouched<float>(at(width + 9));
  auto second = untouched<T>(at(width + 9));
  device_array<float> const first_sums(first);
  device_array<T> const second_sums(second);

  row_problem<op> problem{{0}, {x.view(), y.view()}, {out.view()}};
  if (has_vector) problem.vectors[0] = {vector.data(), element_of<T>()};
  problem.sums[0] = {first_sums.data(), element::fp32};
  if (has_second) problem.sums[1] = {second_sums.data(), element_of<T>()};
  run_class<op, Class, Shifted>(problem);

  auto const product = [&](int r, int c) {
    return x(r, c) * (has_vector ? of_column[at(c)] : 1.f);
  };
  for (int r = 0; r < shape.all_rows(); ++r) {
    float sum = 0;
    for (int c = 0; c < width; ++c) sum += product(r, c) + y(r, c);
    for (int c = 0; c < width; ++c) out.expect(r, c, y(r, c) + sum);
  }
  for (int c = 0; c < width; ++c) {
    float a = 0, b = 0;
    for (int r = 0; r < shape.all_rows(); ++r) a += product(r, c) - 3 * y(r, c), b += y(r, c) + 2;
    first[at(c)] = a;
    if (has_second) second[at(c)] = to<T>(b);
  }
  CAPTURE(Class);
  CAPTURE(Shifted);
  CAPTURE(width);
  CAPTURE(shape.all_rows());
  out.check();
  check_same(first_sums.read(), first);
  check_same(second_sums.read(), second);
  ++cases_ran;
}

template <class T, int Class, bool Shifted> void check_class() {
  using kernel = row_kernel<summed<T>, Class, Shifted>;
  constexpr int group = kernel::group, gap = 16;
  auto const widths = widths_of<summed<T>, Class, Shifted>();
  expect_cases const counted(static_cast<int>(widths.size()) + 5 + 2 * Shifted);
  auto const check = [&](row_layout shape, auto... more) {
    if (Shifted) shape.padding += 3, shape.first += 5;
    check_summed<T, Class, Shifted>(shape, more...);
  };
  for (int const width : widths) check({.rows = group + 1, .width = width});
  int const least = *widths.begin(), width = *std::next(widths.begin());
  int const tasks = be::rt::multiprocessors() * be::row_tasks_per_unit(least);
  check({.rows = 1, .width = width});
  check({.rows = (2 * tasks + 1) * group + 1, .width = least});
  check({.n0 = 2,
         .n1 = 3,
         .rows = 2 * group + 1,
         .width = width,
         .padding = 8,
         .gap = gap,
         .outer_gap = gap},
        true, false);
  check({.n0 = 2, .n1 = 3, .rows = group + 1, .width = width}, false);
  check({.n1 = 5, .rows = 1, .width = width, .gap = gap});
  if (!Shifted) return;
  // Such that end within a chunk, but begin with one; and such that are as long as chunks.
  int const whole = (least + 7) / 8 * 8;
  check_summed<T, Class, Shifted>({.rows = group + 1, .width = whole + 3, .padding = 13});
  check({.rows = group + 1, .width = whole});
}

TEST_CASE("sums over rows") {
  for_each_class<summed<bf16>, TK_SHARD, TK_SHARDS>(
      [](auto c, auto shifted) { check_class<bf16, c, shifted>(); });
}

}  // namespace tk::test
