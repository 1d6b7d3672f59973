// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_norm_backward at the sizes of sizes.txt: both kinds, three types, with and without weight, dr,
// dweight and dbias; at large means; special values; sums over many rows.
#include "tests/ops/norm/backward_oracle.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 95: kinds of norm, types and optional operands, all of them.
constexpr int kinds = 96;
norm_backward_case of_kind(row_shape const& shape, int kind) {
  norm_backward_case x{.shape = shape};
  x.kind = kind & 1 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.weight = kind >> 1 & 1;
  x.dr = kind >> 2 & 1;
  x.dweight = (kind >> 3 & 1) == 0;
  x.dbias = (kind >> 4 & 1) == 0;
  x.type = row_types[kind / 32];
  x.weight_type = kind % 5 ? column_type::of_rows : column_type::fp32;
  x.sums_type = kind % 3 ? column_type::of_rows : column_type::fp32;
  x.dy_mean = kind % 7 ? 0 : 0.5;
  x.eps = kind % 4 ? 1e-5f : 1e-6f;
  return x;
}

// The variance of elements 1000 +- size must not drown in the squares of their mean.
std::vector<norm_backward_case> large_means() {
  std::vector<norm_backward_case> cases;
  for (std::int64_t const width : {17, 193, 1000, 4096, 8192, 20000})
    for (auto const type : row_types)
      for (bool const dr : {false, true}) {
        norm_backward_case x{.shape = {.rank = 2, .rows = 3, .width = width}};
        x.type = type;
        x.dr = dr;
        x.mean = cases.size() % 2 ? 1000 : -1000;
        x.size = type == dtype::bf16 ? 16 : 1.7;  // some steps of the type, std 1 in fp16 and fp32
        cases.push_back(x);
      }
  return cases;
}

// Terms of one sign, whose sums are as large as sums get.
std::vector<norm_backward_case> one_sign() {
  std::vector<norm_backward_case> cases;
  std::int64_t const units = be::rt::device().multiprocessors;
  for (std::int64_t const width : {1, 40, 129, 1000})
    for (auto const type : row_types) {
      norm_backward_case x{.shape = {.rank = 2, .rows = 40 * units + 3, .width = width}};
      x.type = type;
      x.kind = TK_NORM_RMS;
      x.dy_mean = 3;
      x.mean = 2;
      x.sums_type = cases.size() % 2 ? column_type::fp32 : column_type::of_rows;
      cases.push_back(x);
    }
  return cases;
}

TEST_CASE("NaN and infinity stay in their row, and in their columns of sums") {
  for (auto const kind : {TK_NORM_LAYER, TK_NORM_RMS}) {
    norm_backward_case c{.shape = {}, .kind = kind, .dr = true};
    c.sums_type = kind == TK_NORM_RMS ? column_type::fp32 : column_type::of_rows;
    for (auto const input :
         {&norm_backward_operands::r, &norm_backward_operands::dy, &norm_backward_operands::dr})
      check_specials(c, input, {std::nan(""), HUGE_VAL});
  }
}
TEST_CASE("a row without variance, where eps is 0") {
  for (std::int64_t const width : {64, 1024, 8192}) {
    norm_backward_case c{.shape = {.rank = 2, .rows = 3, .width = width}};
    c.mean = 4, c.size = 0, c.eps = 0;
    norm_backward_operands x(c);
    REQUIRE(launch_twice(x) == "");
    for (std::int64_t const col : {std::int64_t{0}, width - 1}) {
      CHECK(std::isnan(result_at(x.dx, 1, col)));
      CHECK(std::isnan(result_at(x.dweight, 0, col)));
      CHECK(std::isfinite(result_at(x.dbias, 0, col)));
    }
  }
}

TEST_CASE("norm backward at every size") {
  run_table("backward_sizes", size_table("norm", kinds, of_kind));
}
TEST_CASE("norm backward of large means") { run_table("large means", large_means()); }
TEST_CASE("norm backward of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }
TEST_CASE("sums of one sign over many rows") { run_table("one sign", one_sign()); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("norm", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(x.kind + 2 * x.weight + 4 * x.dr + 8 * x.dweight + 16 * x.dbias +
                32 * static_cast<int>(x.type));
  CHECK(seen.size() == kinds);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
