// SPDX-License-Identifier: MIT
// shards: 5
// shards on a host: 3
// timeout: 600
// The row template (core/row_kernel.hpp) with three inputs of three types, two results of two, and
// two numbers held of each element: classes, layouts and rows as in rows_reduced.cpp.
#include "tests/contract/row_problems.hpp"

namespace tk::test {

struct mixed {
  static constexpr int inputs = 3, outputs = 2, vectors = 1, held = 2, values = 2;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> y{};
  static constexpr row_input<2> z{};
  static TK_BOTH constexpr float vector_default(int) { return 3.f; }
  template <int I>
  using input = std::conditional_t<I == 0, bf16, std::conditional_t<I == 1, float, fp16>>;
  template <int I> using output = std::conditional_t<I == 0, fp16, float>;
  struct args {
    int unused;
  };
  static int passes(args const&) { return 3; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    auto const a = rows.keep([](auto const& p) { return p(x) + p(y); });
    auto const b = rows.keep([&](auto const& p) { return p(y) * p(z) - p(a); });
    auto const sum = rows.sum([&](auto const& p) { return p(a) * p(b); });
    auto const all = rows.max_and_sum([&](auto const& p) { return p(b) * p(z); });
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p(a) * p(row_vector<0>{}) + p(b));
      p.write(row_output<1>{}, p(b) - sum + p(x) * all.max);
    });
    rows.put(row_value<0>{}, all.max);
    rows.put(row_value<1>{}, all.sum);
  }
};

enum class vector_is { absent, narrow, fp32 };

template <int Class, bool Shifted>
void check_mixed(row_layout const& shape, unsigned present = 31,
                 vector_is vector = vector_is::narrow, bool late = false) {
  int const width = shape.width;
  auto value_shape = shape;
  value_shape.width = 1, value_shape.padding = 0;
  auto const number = [](int seed) {
    return [=](int r, int c) {
      return whole(static_cast<std::uint64_t>(seed), std::int64_t{r} * 70000 + c, 1);
    };
  };
  auto const has = [&](int i) { return (present >> i & 1) != 0; };
  auto const x = has(0) ? row_operand<bf16>::of(shape, number(1)) : row_operand<bf16>(shape);
  auto const y = has(1) ? row_operand<float>::of(shape, number(2)) : row_operand<float>(shape);
  auto const z = has(2) ? row_operand<fp16>::of(shape, number(3)) : row_operand<fp16>(shape);
  auto first = has(3) ? row_operand<fp16>::result(shape) : row_operand<fp16>(shape);
  auto second = has(4) ? row_operand<float>::result(shape) : row_operand<float>(shape);
  auto most = row_operand<float>::result(value_shape),
       exps = row_operand<float>::result(value_shape);
  auto const of_column = column_values<float>(width, 9);
  device_array<float> const vector32(of_column);
  device_array<bf16> const vector16(column_values<bf16>(width, 9));

  row_problem<mixed> problem{{0}, {x.view(), y.view(), z.view()}, {first.view(), second.view()}};
  if (vector == vector_is::fp32) problem.vectors[0] = {vector32.data(), element::fp32};
  if (vector == vector_is::narrow) problem.vectors[0] = {vector16.data(), element::bf16};
  problem.values[0] = most.view(), problem.values[1] = exps.view();
  run_class<mixed, Class, Shifted>(problem, late);

  for (int r = 0; r < shape.all_rows(); ++r) {
    auto const a = [&](int c) { return x(r, c) + y(r, c); };
    auto const b = [&](int c) { return y(r, c) * z(r, c) - a(c); };
    float sum = 0, top = -inf, all = 0;
    for (int c = 0; c < width; ++c) sum += a(c) * b(c), top = std::max(top, b(c) * z(r, c));
    for (int c = 0; c < width; ++c) {
      all += std::exp2(b(c) * z(r, c) - top);
      float const w = vector == vector_is::absent ? 3.f : of_column[at(c)];
      first.expect(r, c, a(c) * w + b(c));
      second.expect(r, c, b(c) - sum + x(r, c) * top);
    }
    most.expect(r, 0, top);
    exps.expect(r, 0, all);
  }
  CAPTURE(Class);
  CAPTURE(Shifted);
  CAPTURE(width);
  CAPTURE(shape.all_rows());
  CAPTURE(present);
  CAPTURE(static_cast<int>(vector));
  first.check();
  second.check();
  most.check();
  exps.check();
  ++cases_ran;
}

template <int Class, bool Shifted> void check_class() {
  using kernel = row_kernel<mixed, Class, Shifted>;
  constexpr int group = kernel::group, gap = 16;
  auto const widths = widths_of<mixed, Class, Shifted>();
  expect_cases const counted(static_cast<int>(widths.size()) + 5);
  auto const check = [&](row_layout shape, auto... more) {
    if (Shifted) shape.padding += 3, shape.first += 5;
    check_mixed<Class, Shifted>(shape, more...);
  };
  for (int const width : widths) check({.rows = group + 1, .width = width});
  int const least = *widths.begin(), width = *std::next(widths.begin());
  check({.n0 = 2, .n1 = 2, .rows = 3, .width = width});
  check({.n0 = 3,
         .n1 = 2,
         .rows = group + 1,
         .width = width,
         .padding = 8,
         .gap = gap,
         .outer_gap = gap},
        31u, vector_is::absent);
  check({.rows = 2, .width = width}, 29u);
  check({.rows = 2 * group + 1, .width = width}, 3u + 16);
  check({.rows = rows_with_late_tasks<kernel>(), .width = least}, 13u, vector_is::absent, true);
}

TEST_CASE("rows of several types") {
  for_each_class<mixed, TK_SHARD, TK_SHARDS>(
      [](auto c, auto shifted) { check_class<c, shifted>(); });
}
TEST_CASE("values per column in fp32, where input 0 is not and another input is") {
  for_each_class<mixed, TK_SHARD, TK_SHARDS>([](auto c, auto shifted) {
    expect_cases const counted(1);
    int const width = *std::next(widths_of<mixed, c, shifted>().begin());
    check_mixed<c, shifted>({.rows = 5, .width = width}, 31u, vector_is::fp32);
  });
}

}  // namespace tk::test
