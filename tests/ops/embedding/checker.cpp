// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking.
#include "tests/ops/embedding/embedding.hpp"
#include "tests/ops/embedding/embedding_backward.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr dtype types[] = {dtype::bf16, dtype::fp16, dtype::fp32};

TEST_CASE("one fault in embedding is found") {
  for (auto const type : types) {
    auto c = embedding_of({.rank = 3, .h = 2, .rows = 6, .width = 193}, 11);
    c.type = type;
    embedding_operands x(c);
    set(x.ids, 11, 0, 3);  // the last row is one of the table's, the one before another, or none
    set(x.ids, 10, 0, 4);
    set(x.ids, 2, 0, 11);
    set(x.ids, 4, 0, 5);
    check_faults_found(x, 192, 1);
    wants_complaint("a row for none", x, x.y, 2, [&] { put(x.y, 2, 7, 1e-6); });
    set(x.ids, 4, 0, 12);
    CHECK(!compare(x).ok());
  }
}

TEST_CASE("one fault in embedding's backward is found") {
  for (auto const type : types)
    for (auto const table_type : {type, dtype::fp32}) {
      auto c = embedding_backward_of({.rank = 2, .rows = 300, .width = 193}, 7);
      c.type = type;
      c.table_type = table_type;
      c.ids = id_kind::half;
      c.ignores = true;
      c.ignored = 1;
      embedding_backward_operands x(c);
      REQUIRE(launch_twice(x) == "");
      // A column of the last row whose sum is not near 0.
      std::int64_t col = 0;
      while (std::fabs(result_at(x.dtable, 6, col)) < 8) ++col;
      check_faults_found(x, col, 2, 4000);
      wants_complaint("a row that none names", x, x.dtable, 1, [&] { put(x.dtable, 1, 7, 1e-6); });
      // A token more, or less.
      for (std::size_t const row : {2u, 5u}) {
        auto const was = x.named[row];
        x.named[row].pop_back();
        CHECK(!compare(x).ok());
        x.named[row] = was;
        x.named[row].push_back(0);
        CHECK(!compare(x).ok());
        x.named[row] = was;
      }
      CHECK(compare(x).ok());
    }
}

}  // namespace
}  // namespace tk::test
