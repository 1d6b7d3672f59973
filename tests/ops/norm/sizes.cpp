// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_norm at the sizes of sizes.txt: both kinds, three types, with and without residual,
// r, weight and bias; at large means; and of equal numbers.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 95: kinds of norm, types and optional operands, all of them.
constexpr int kinds = 96;
norm_case of_kind(row_shape const& shape, int kind) {
  norm_case x{.shape = shape};
  x.kind = kind & 1 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.residual = kind >> 1 & 1;
  x.store_r = kind >> 2 & 1;
  x.weight = kind >> 3 & 1;
  x.bias = (kind >> 4 & 1) == 0;
  x.type = row_types[kind / 32];
  x.scale = x.type != dtype::fp32 && kind % 5 == 0 ? column_type::fp32 : column_type::of_rows;
  x.eps = kind % 3 ? 1e-5f : 1e-6f;
  return x;
}

// The variance of elements 1000 +- size must not drown in the squares of their mean.
std::vector<norm_case> large_means() {
  std::vector<norm_case> cases;
  for (std::int64_t const width : {17, 193, 1000, 4096, 8192, 20000})
    for (auto const type : row_types)
      for (bool const residual : {false, true}) {
        norm_case x{.shape = {.rank = 2, .rows = 3, .width = width}};
        x.type = type;
        x.residual = residual;
        x.mean = cases.size() % 2 ? 1000 : -1000;
        x.size = type == dtype::bf16 ? 16 : 1.7;  // some steps of the type, std 1 in fp16 and fp32
        cases.push_back(x);
      }
  return cases;
}

// The mean of equal numbers whose sum is exact is exact: y is 0, not their rounding over sqrt(eps).
void check_equal_numbers(dtype type, std::int64_t width) {
  norm_case x{.shape = {.rank = 2, .rows = 3, .width = width}};
  x.type = type;
  x.weight = x.bias = false;
  x.mean = 173 * 256;
  x.size = 0;
  norm_operands n(x);
  CAPTURE(width);
  REQUIRE(launch_twice(n) == "");
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < x.shape.rows; ++row)
    for (std::int64_t col = 0; col < width; ++col) wrong += result_at(n.y, row, col) != 0;
  CHECK(wrong == 0);
}
TEST_CASE("LayerNorm of equal numbers") {
  for (auto const type : row_types)
    for (std::int64_t const width : {7, 100, 1000, 3584, 7168, 14336, 28672, 40000})
      check_equal_numbers(type, width);
}

// A row that has NaN or an infinity is NaN, but for RMSNorm of an infinity, which is 0 elsewhere.
TEST_CASE("NaN and infinity stay in their row") {
  for (auto const kind : {TK_NORM_LAYER, TK_NORM_RMS}) {
    norm_case c{.shape = {}, .kind = kind, .residual = true, .store_r = kind == TK_NORM_LAYER};
    for (auto const input : {&norm_operands::x, &norm_operands::residual})
      check_specials(c, input, {std::nan(""), HUGE_VAL});
  }
}
// A row whose variance and eps are both 0 is NaN.
TEST_CASE("a row without variance, where eps is 0") {
  for (std::int64_t const width : {64, 1024, 8192}) {
    norm_case c{.shape = {.rank = 2, .rows = 3, .width = width}};
    c.weight = c.bias = false;
    c.mean = 4, c.size = 0, c.eps = 0;
    norm_operands x(c);
    REQUIRE(launch_twice(x) == "");
    CHECK(std::isnan(result_at(x.y, 1, 3)));
  }
}

TEST_CASE("norm at every size") { run_table("sizes", size_table("norm", kinds, of_kind)); }
TEST_CASE("norm of large means") { run_table("large means", large_means()); }
TEST_CASE("norm of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("norm", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(x.kind + 2 * x.residual + 4 * x.store_r + 8 * x.weight + 16 * x.bias +
                32 * static_cast<int>(x.type));
  CHECK(seen.size() == kinds);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
