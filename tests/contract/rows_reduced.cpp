// SPDX-License-Identifier: MIT
// shards: 5
// shards on a host: 3
// timeout: 600
// The row template (core/row_kernel.hpp) with an op that reduces rows in every way it has: each
// class, a share of them per shard, unshifted and shifted where the chip has that, for its least,
// its most and other widths; one matrix and several, whose strides merge and do not; tails of rows;
// tasks that are dealt late; bounds that differ by row; absent operands; values per column of both
// types. Whole numbers: sums are exact in any order.
#include "tests/contract/row_problems.hpp"

namespace tk::test {

template <class T> struct reduced {
  static constexpr int inputs = 2, outputs = 2, vectors = 2, held = 1, values = 9;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> y{};
  static constexpr row_vector<0> weight{};
  static constexpr row_vector<1> bias{};
  static TK_BOTH constexpr float vector_default(int i) { return i == 0 ? 1.f : 0.f; }
  template <int> using input = T;
  template <int I> using output = std::conditional_t<I == 0, T, float>;
  struct args {
    int limited, first_end, by, rows;  // row i of each `rows` ends at column first_end + i by
    int has_y;                         // a flag
    TK_BOTH bool differ() const { return limited; }
    TK_BOTH int of(int row) const { return first_end + row % rows * by; }
  };
  static int passes(args const&) { return 6; }
  static TK_BOTH args const& ends(args const& a) { return a; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    auto const scale = rows.template value<T>(row_value<0>{}, [](T v) { return be::widen(v); });
    auto const target = rows.template column_of<std::int64_t>(row_value<1>{});
    typename Rows::column there = 0.f;
    if (a.has_y) there = rows.element(y, target);
    auto const both = rows.keep([](auto const& p) { return p(x) + p(y); });
    auto const sum = rows.sum([&](auto const& p) { return p(both); });
    auto const two = rows.sum_both([&](auto const& p) { return square(p(both)); },
                                   [&](auto const& p) { return p(x) * p(weight); });
    auto const most = rows.max([&](auto const& p) { return p(both) - p(y) * 2.f; });
    auto const all =
        rows.max_and_sums([&](auto const& p) { return p(both); }, 1.f,
                          [&](auto const& p) { return p(both) * p(bias) + p(y); }, true);
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p.inside((p(both) - scale) * p(weight) + p(bias)));
    });
    rows.each([&](auto const& p) {
      p.write(row_output<1>{}, p.inside((p(both) - sum) * 2.f + p.one_at(target) * scale));
    });
    rows.put(row_value<2>{}, sum);
    rows.put(row_value<3>{}, two.first);
    rows.put(row_value<4>{}, two.second);
    rows.put(row_value<5>{}, most);
    rows.put(row_value<6>{}, all.max + there);
    rows.put(row_value<7>{}, all.sum);
    rows.put(row_value<8>{}, all.other);
  }
};

struct options {
  bool limited = false, late = false, fp32_vectors = false;
  bool has_x = true, has_y = true, has_vectors = true, has_results = true;
  int unlike = 0;  // elements by which results and y begin elsewhere than x
};

template <class T, int Class, bool Shifted>
void check_reduced(row_layout const& shape, options const& o = {}) {
  using op = reduced<T>;
  int const n = shape.all_rows(), width = shape.width;
  auto result_shape = shape, value_shape = shape;
  result_shape.first += o.unlike;
  value_shape.width = 1, value_shape.padding = 2;
  auto const wide = [&](int seed, row_layout const& l) {
    return row_operand<T>::of(l, [=](int r, int c) {
      return whole(static_cast<std::uint64_t>(seed), std::int64_t{r} * 70000 + c, 1);
    });
  };
  row_operand<T> x = o.has_x ? wide(3, shape) : shape;
  row_operand<T> y = o.has_y ? wide(4, result_shape) : shape;
  using result = row_operand<T>;
  result out = o.has_results ? result::result(result_shape) : result(result_shape);
  auto sums_out = row_operand<float>::result(result_shape);
  auto const scale = row_operand<T>::of(value_shape, [](int r, int) { return float(r % 7 - 3); });
  auto const target_of = [width](int r) -> std::int64_t {
    return r % 5 == 4   ? -1
           : r % 5 == 3 ? width
           : r % 5 == 2 ? std::int64_t{1} << 33
                        : (r * 31 + width - 1) % width;
  };
  auto const target =
      row_operand<std::int64_t>::of(value_shape, [&](int r, int) { return target_of(r); });
  std::array<row_operand<float>, 7> put{
      row_operand<float>::result(value_shape),
      row_operand<float>::result(value_shape),
      row_operand<float>::result(value_shape),
      row_operand<float>::result(value_shape),
      row_operand<float>::result(value_shape),
      row_operand<float>::result(value_shape),
      o.has_results ? row_operand<float>::result(value_shape) : row_operand<float>(value_shape)};
  auto const weight = column_values<float>(width, 7), bias = column_values<float>(width, 8);
  auto const narrow = [](std::vector<float> const& v) {
    std::vector<T> all;
    for (float const e : v) all.push_back(to<T>(e));
    return all;
  };
  device_array<float> const weight32(weight), bias32(bias);
  device_array<T> const weight16(narrow(weight)), bias16(narrow(bias));

  row_problem<op> problem{{o.limited, -3, 2 * width / shape.rows + 1, shape.rows, o.has_y},
                          {x.view(), y.view()},
                          {out.view(), sums_out.view()}};
  if (o.has_vectors) {
    auto const type = o.fp32_vectors ? element::fp32 : element_of<T>();
    problem.vectors[0] = {o.fp32_vectors ? static_cast<void*>(weight32.data()) : weight16.data(),
                          type};
    problem.vectors[1] = {o.fp32_vectors ? static_cast<void*>(bias32.data()) : bias16.data(), type};
  }
  problem.values[0] = scale.view();
  problem.values[1] = target.view();
  for (int i = 0; i < 7; ++i) problem.values[2 + i] = put[at(i)].view();
  run_class<op, Class, Shifted>(problem, o.late);

  for (int r = 0; r < n; ++r) {
    int const end =
        o.limited ? std::min(width, problem.op.first_end + r % shape.rows * problem.op.by) : width;
    auto const w = [&](int c) { return o.has_vectors ? weight[at(c)] : 1.f; };
    auto const b = [&](int c) { return o.has_vectors ? bias[at(c)] : 0.f; };
    auto const both = [&](int c) { return x(r, c) + y(r, c); };
    float const s = scale(r, 0);
    float sum = 0, squares = 0, weighted = 0, most = -inf, top = -inf, exps = 0, other = 0;
    for (int c = 0; c < end; ++c) {
      sum += both(c);
      squares += both(c) * both(c), weighted += x(r, c) * w(c);
      most = std::max(most, x(r, c) - y(r, c)), top = std::max(top, both(c));
      other += both(c) * b(c) + y(r, c);
    }
    for (int c = 0; c < end; ++c) exps += std::exp2(both(c) - top);
    for (int c = 0; c < width; ++c) {
      out.expect(r, c, c < end ? (both(c) - s) * w(c) + b(c) : 0);
      sums_out.expect(r, c, c < end ? (both(c) - sum) * 2 + (c == target_of(r) ? s : 0) : 0);
    }
    auto const t = target_of(r);
    float const there = t >= 0 && t < width ? y(r, static_cast<int>(t)) : 0;
    float const values[] = {sum, squares, weighted, most, top + there, exps, other};
    for (int i = 0; i < 7; ++i) put[at(i)].expect(r, 0, values[i]);
  }
  CAPTURE(Class);
  CAPTURE(Shifted);
  CAPTURE(width);
  CAPTURE(n);
  out.check();
  sums_out.check();
  for (int i = 0; i < 7; ++i) {
    CAPTURE(i);
    put[at(i)].check();
  }
  ++cases_ran;
}

template <class T, int Class, bool Shifted> void check_class() {
  using kernel = row_kernel<reduced<T>, Class, Shifted>;
  constexpr int group = kernel::group;
  auto const widths = widths_of<reduced<T>, Class, Shifted>();
  expect_cases const counted(static_cast<int>(widths.size()) + 7);
  auto const check = [&](row_layout shape, options const& o = {}) {
    if (Shifted) shape.padding += 3, shape.first += 5;
    check_reduced<T, Class, Shifted>(shape, o);
  };
  for (int const width : widths) check({.rows = group + 1, .width = width});
  int const width = *std::next(widths.begin());
  constexpr int gap = 16;
  check({.n0 = 2, .n1 = 3, .rows = 2, .width = width});
  check({.n0 = 2, .n1 = 3, .rows = group + 1, .width = width, .outer_gap = gap});
  check({.n0 = 3, .n1 = 2, .rows = 3, .width = width, .padding = 8, .gap = gap, .outer_gap = gap},
        {.fp32_vectors = true, .unlike = Shifted ? 1 : 8});
  check({.rows = 1, .width = width}, {.limited = true, .has_y = false, .has_vectors = false});
  check({.n1 = 2, .rows = group + 2, .width = width, .gap = gap},
        {.limited = true, .fp32_vectors = true});
  check({.rows = 2 * group + 1, .width = width}, {.has_x = false, .has_results = false});
  int const least = *widths.begin();
  check({.rows = rows_with_late_tasks<kernel>(), .width = least},
        {.late = true, .has_vectors = false});
}

TEST_CASE("rows reduced in every way") {
  for_each_class<reduced<bf16>, TK_SHARD, TK_SHARDS>(
      [](auto c, auto shifted) { check_class<bf16, c, shifted>(); });
}

}  // namespace tk::test
