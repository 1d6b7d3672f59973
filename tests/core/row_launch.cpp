// SPDX-License-Identifier: MIT
// merge_rows (ops/row_launch.hpp): dimensions join where each operand that is there lets them, and
// what joined names the same elements as before. choose_elements (ops/element_launch.hpp): rows of
// no more columns and no more rows than can be launched.
#include "ops/row_launch.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "ops/element_launch.hpp"

namespace tk::test {

struct copying {
  static constexpr int inputs = 2, outputs = 1, vectors = 0, held = 1, values = 1;
  template <int> using input = float;
  template <int> using output = float;
  struct args {
    int unused;
  };
};
using problem = row_problem<copying>;

struct strides {
  std::int64_t outer, middle, rows;
};
float here = 0;  // any memory: nothing is read

row_tensor_view view(std::int64_t const (&sizes)[3], strides const& s, bool present = true) {
  return {{present ? &here : nullptr, element::fp32},
          sizes[0],
          sizes[1],
          sizes[2],
          10,
          s.outer,
          s.middle,
          s.rows};
}
problem with(std::int64_t const (&n)[3], strides const& x, strides const& residual,
             bool has_residual = true) {
  problem p{};
  std::int64_t const dense = n[1] * n[2];
  p.in[0] = view(n, x);
  p.in[1] = view(n, residual, has_residual);
  p.out[0] = view(n, {dense * 10, n[2] * 10, 10});
  p.values[0] = view(n, {dense, n[2], 1});
  p.values[0].width = 1;
  return p;
}

// Offsets of all rows of an operand, in order.
std::vector<std::int64_t> offsets(row_tensor_view const& x) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < x.outer; ++i)
    for (std::int64_t j = 0; j < x.middle; ++j)
      for (std::int64_t r = 0; r < x.rows; ++r)
        all.push_back(i * x.outer_stride + j * x.middle_stride + r * x.row_stride);
  return all;
}
void check(problem before, merged_rows const& expected) {
  problem after = before;
  auto const found = merge_rows(after);
  CHECK(found.n0 == expected.n0);
  CHECK(found.n1 == expected.n1);
  CHECK(found.rows == expected.rows);
  CHECK(found.width == expected.width);
  for (auto const of :
       {+[](problem& p) { return &p.in[0]; }, +[](problem& p) { return &p.in[1]; },
        +[](problem& p) { return &p.out[0]; }, +[](problem& p) { return &p.values[0]; }}) {
    CHECK(of(after)->outer == expected.n0);
    CHECK(of(after)->middle == expected.n1);
    CHECK(of(after)->rows == expected.rows);
    if (of(before)->data) CHECK(offsets(*of(before)) == offsets(*of(after)));
  }
}

TEST_CASE("dimensions that join") {
  std::int64_t const n[] = {2, 3, 4};
  strides const dense{120, 40, 10};
  check(with(n, dense, dense), {1, 1, 24, 10});
  check(with(n, {-120, -40, -10}, dense), {1, 1, 24, 10});  // backwards, others forwards
  check(with(n, dense, {150, 40, 10}), {1, 2, 12, 10});     // outer alone is apart
  check(with(n, dense, {160, 50, 10}), {2, 3, 4, 10});
  check(with(n, dense, {160, 50, 10}, false), {1, 1, 24, 10});  // what is absent has no say
  check(with(n, {12 * 16, 4 * 16, 16}, dense), {1, 1, 24, 10});
  check(with(n, {3 * 50, 50, 10}, {3 * 50, 50, 10}), {1, 6, 4, 10});  // outer and middle join
}
TEST_CASE("a broadcast dimension joins where all are broadcast") {
  std::int64_t const n[] = {2, 3, 4};
  strides const dense{120, 40, 10};
  check(with(n, dense, {0, 0, 0}), {1, 1, 24, 10});
  check(with(n, dense, {0, 0, 10}), {1, 6, 4, 10});
  check(with(n, dense, {0, 40, 10}), {1, 2, 12, 10});
  check(with(n, dense, {40, 0, 10}), {2, 3, 4, 10});
}
TEST_CASE("a dimension of one is nowhere") {
  strides const any{7777, 7777, 10}, last{10, 7777, 7777};
  check(with({1, 1, 4}, any, {1, 2, 10}), {1, 1, 4, 10});
  check(with({5, 1, 1}, last, {10, 3, 4}), {1, 1, 5, 10});
  check(with({1, 1, 1}, any, {1, 2, 3}), {1, 1, 1, 10});
  check(with({2, 1, 4}, {40, 5, 10}, {50, 6, 10}), {1, 2, 4, 10});
  check(with({2, 1, 4}, {40, 5, 10}, {40, 6, 10}), {1, 1, 8, 10});
}

TEST_CASE("quotients by a product are those of a division") {
  constexpr int most = std::numeric_limits<int>::max();
  std::vector<int> numbers{1, 2, 3, 5, 7, 12, 40, 64, 641, 1000, 46341, 65535, 65536, 65537};
  for (int bit = 17; bit < 31; ++bit)
    for (int const by : {-1, 0, 1}) numbers.push_back((1 << bit) + by);
  numbers.push_back(most);
  for (int const d : numbers)
    for (int const n : numbers)
      for (int const by : {-1, 0, 1}) {
        std::int64_t const near = std::int64_t{n} / d * d + by;  // a multiple, and beside it
        for (std::int64_t const x : {std::int64_t{n}, near}) {
          if (x < 0 || x > most) continue;
          auto const got = divisor(static_cast<std::uint32_t>(d)).of(static_cast<int>(x));
          REQUIRE(got.quotient == x / d);
          REQUIRE(got.rest == x % d);
        }
      }
}

TEST_CASE("elements are launched in rows that can be") {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - (1 << 16), odd = 3002110007;
  auto const chosen = [](std::int64_t width, std::int64_t rows, bool whole, int outer = 1) {
    return choose_elements(width, outer, rows, whole);
  };
  CHECK(chosen(8192, 4, true) == element_rows::joined);
  CHECK(chosen(8200, 4, true) == element_rows::pieces);
  CHECK(chosen(8200, 4, true, 2) == element_rows::given);
  CHECK(chosen(1024, 1, true) == element_rows::joined);
  CHECK(chosen(1025, 1, true) == element_rows::pieces);
  CHECK(chosen(odd, 1, true) == element_rows::pieces);
  CHECK(chosen(8200, 4, false) == element_rows::joined);
  CHECK(chosen(most, 2, false) == element_rows::joined);
  CHECK(chosen(odd, 2, false) == element_rows::given);
  CHECK(chosen(8192000, most / 8000, true) == element_rows::pieces);
  CHECK(chosen(8192000, most / 8000 + 1, true) == element_rows::given);
}

}  // namespace tk::test
