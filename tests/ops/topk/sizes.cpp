// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_topk at the sizes of sizes.txt: three types, k from 1 to the width, everything that rows may
// hold, either result alone.
#include "tests/ops/topk/topk.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr std::int64_t ks[] = {1, 2, 7, 50, 1024};  // the last: the width, if that is less

// Kind 0 ... 89: types, k and contents, all of them with all; the rest goes round.
constexpr int kinds = 90;
topk_case of_kind(row_shape const& shape, int kind) {
  topk_case x{.shape = shape};
  x.type = row_types[kind % 3];
  x.k = std::min(shape.width, ks[kind / 3 % 5]);
  x.of = static_cast<contents>(kind / 15);
  x.smallest = kind % 7 % 2;
  x.index_type = kind % 2 ? dtype::int64 : dtype::int32;
  x.has_values = kind % 5 != 3;
  x.has_indices = kind % 11 != 4 || !x.has_values;
  return x;
}

TEST_CASE("topk at every size") { run_table("sizes", size_table("topk", kinds, of_kind)); }

// Every number of keys that shared memory sorts at once, and one more than it holds.
TEST_CASE("topk of k around the powers of two") {
  std::vector<topk_case> cases;
  for (std::int64_t k = 1; k <= 1024; k *= 2)
    for (std::int64_t const by : {-1, 0, 1}) {
      if (k + by < 1 || k + by > 1024) continue;
      topk_case x{.shape = {.rank = 2, .rows = 2, .width = 3000}, .k = k + by};
      x.type = row_types[cases.size() % 3];
      x.of = static_cast<contents>(cases.size() % all_contents);
      x.smallest = cases.size() % 2;
      cases.push_back(x);
    }
  run_table("k", cases);
}

// One number among many, in a column of each part of a row.
TEST_CASE("topk finds a number wherever it is") {
  std::vector<topk_case> cases;
  for (std::int64_t const width : {31, 300, 5000, 20000})
    for (std::int64_t const special : {0, 1, 2, 3})
      for (double const value : {2., std::nan(""), HUGE_VAL}) {
        topk_case c{.shape = {.rank = 2, .rows = 3, .width = width}, .k = special % 2 ? 3 : 1};
        c.type = row_types[cases.size() % 3];
        topk_operands x(c);
        for (std::int64_t row = 0; row < 3; ++row)
          set(x.x, row, (special * width / 4 + row * 5) % width, value);
        auto const v = run_operands(x);
        CHECK_MESSAGE(v.ok(), describe(c) << ", " << value << "\n  " << v.wrong);
        cases.push_back(c);
      }
}

TEST_CASE("the table of sizes holds every kind, rank and width") {
  auto const cases = size_table("topk", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(static_cast<int>(x.type) + 3 * static_cast<int>(x.of) + 18 * x.has_values +
                36 * x.has_indices + 72 * x.smallest + 144 * (x.index_type == dtype::int64));
  CHECK(seen.size() == 78);
  std::set<std::int64_t> widths{0,    1,    7,    63,   64,    65,     1000,  1024,
                                3072, 5120, 8191, 8192, 65536, 131072, 131073};
  for (auto const& x : cases) widths.erase(x.shape.width);
  CHECK(widths.empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
