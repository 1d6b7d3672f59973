// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_norm at the sizes of sizes.txt: both kinds, three types, with and without residual,
// r, weight and bias; at large means; and of equal numbers.
#include <set>

#include "tests/ops/norm/norm.hpp"
#include "tests/support/sizes.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr dtype types[] = {dtype::bf16, dtype::fp16, dtype::fp32};

// Kind 0 ... 95: kinds of norm, types and optional operands, all of them.
norm_case of_kind(std::int64_t rows, std::int64_t width, int kind) {
  norm_case x{.rows = rows, .width = width};
  x.kind = kind & 1 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.residual = kind >> 1 & 1;
  x.store_r = kind >> 2 & 1;
  x.weight = kind >> 3 & 1;
  x.bias = (kind >> 4 & 1) == 0;
  x.type = types[kind / 32];
  x.scale = x.type != dtype::fp32 && kind % 5 == 0 ? scale_use::fp32 : scale_use::same_type;
  x.eps = kind % 3 ? 1e-5f : 1e-6f;
  return x;
}
constexpr int kinds = 96;

// Every kind for small problems, else some of them, others from line to line.
std::vector<norm_case> table() {
  std::vector<norm_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("norm")) {
    std::int64_t const given = line.number("rows"), width = line.number("width");
    std::int64_t const rows = given < 0 ? -given * be::rt::device().multiprocessors + 1 : given;
    bool const small = rows * width < 20000, large = rows * width > 1 << 20;
    int const every = small ? (test_level() == level::quick ? 5 : 1) : large ? 37 : 13;
    for (int kind = turn % every; kind < kinds; kind += every)
      cases.push_back(of_kind(rows, width, kind));
    ++turn;
  }
  return cases;
}

// The variance of elements 1000 +- size must not drown in the squares of their mean.
std::vector<norm_case> large_means() {
  std::vector<norm_case> cases;
  for (std::int64_t const width : {17, 193, 1000, 4096, 8192, 20000})
    for (auto const type : types)
      for (bool const residual : {false, true}) {
        norm_case x{.rows = 3, .width = width};
        x.type = type;
        x.residual = residual;
        x.mean = cases.size() % 2 ? 1000 : -1000;
        x.size = type == dtype::bf16 ? 16 : 1.7;  // some steps of the type, std 1 in fp16 and fp32
        cases.push_back(x);
      }
  return cases;
}

// The rows of a class of short tiles, in each type: the tails of the last rows.
std::vector<norm_case> tails() {
  std::vector<norm_case> cases;
  int kind = 3;
  for (std::int64_t rows = 0; rows < 20; ++rows)
    for (auto const width : {8, 136}) {
      cases.push_back(of_kind(16 * be::rt::device().multiprocessors + rows, width, kind));
      kind = (kind + 29) % kinds;
    }
  return cases;
}

// The mean of equal numbers whose sum is exact is exact: y is 0, not their rounding over sqrt(eps).
void check_equal_numbers(dtype type, std::int64_t width) {
  norm_case x{.rows = 3, .width = width};
  x.type = type;
  x.weight = x.bias = false;
  x.mean = 173 * 256;
  x.size = 0;
  norm_operands n(x);
  CAPTURE(width);
  REQUIRE(launch_twice(n) == "");
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < x.rows; ++row)
    for (std::int64_t col = 0; col < width; ++col)
      wrong += decode(type, n.y.result_row(row) + col * bytes_of(type)) != 0;
  CHECK(wrong == 0);
}
TEST_CASE("LayerNorm of equal numbers") {
  for (auto const type : types)
    for (std::int64_t const width : {7, 100, 1000, 3584, 7168, 14336, 28672, 40000})
      check_equal_numbers(type, width);
}

// A row that has NaN or an infinity is NaN; the rows beside it are as right as ever. A row whose
// variance and eps are both 0 is NaN.
void check_special(double special, tk_norm_kind kind, std::int64_t width) {
  norm_case c{.rows = 5, .width = width, .kind = kind};
  norm_operands x(c);
  CAPTURE(width);
  set(x.x, 2, width / 2, special);
  REQUIRE(launch_twice(x) == "");
  std::vector<double> row(static_cast<std::size_t>(width));
  std::int64_t nans = 0;
  read_row(c.type, x.y.result_row(2), width, row.data());
  for (double const y : row) nans += std::isnan(y);
  CHECK(nans >= 1);  // RMSNorm of an infinity: 0 elsewhere
  if (kind == TK_NORM_LAYER) CHECK(nans == width);
  error_meter ys(c.type), rs(c.type);
  for (std::int64_t const r : {0, 1, 3, 4}) compare_row(x, r, ys, rs);
  CHECK(ys.judge("y", 1.05).wrong == "");
}
TEST_CASE("NaN and infinity stay in their row") {
  for (double const special : {std::nan(""), HUGE_VAL})
    for (auto const kind : {TK_NORM_LAYER, TK_NORM_RMS})
      for (std::int64_t const width : {100, 1000, 4096, 8192, 20000})
        check_special(special, kind, width);
}
TEST_CASE("a row without variance, where eps is 0") {
  for (std::int64_t const width : {64, 1024, 8192}) {
    norm_case c{.rows = 3, .width = width};
    c.weight = c.bias = false;
    c.mean = 4, c.size = 0, c.eps = 0;
    norm_operands x(c);
    REQUIRE(launch_twice(x) == "");
    CHECK(std::isnan(decode(c.type, x.y.result_row(1) + 3 * bytes_of(c.type))));
  }
}

TEST_CASE("norm at every size") { run_table("sizes", table()); }
TEST_CASE("norm of large means") { run_table("large means", large_means()); }
TEST_CASE("norm of many short rows") { run_table("tails", tails()); }

TEST_CASE("the table of sizes holds every kind and every tail") {
  std::set<std::int64_t> widths;
  std::set<int> seen;
  for (auto const& x : table()) {
    widths.insert(x.width);
    seen.insert(x.kind + 2 * x.residual + 4 * x.store_r + 8 * x.weight + 16 * x.bias +
                32 * static_cast<int>(x.type));
  }
  for (std::int64_t width :
       {0,   1,    7,    17,   63,   64,   65,   127,  128,  129,  193,   255,   256,
        257, 1000, 1023, 1024, 1025, 2048, 4096, 8191, 8192, 8193, 16384, 16385, 65536})
    CHECK(widths.contains(width) == true);
  CHECK(seen.size() == kinds);
}

}  // namespace
}  // namespace tk::test
