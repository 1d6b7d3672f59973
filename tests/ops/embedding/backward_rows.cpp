// SPDX-License-Identifier: MIT
// timeout: 600
// Rows of dtable have the bits that their tokens' rows of dy and the order of sums give: those of
// fp32 sums on the CPU, in pieces of 128 tokens; and the same, whatever other tokens lie between
// and whatever rows are beside them.
#include "tests/ops/embedding/embedding_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// The sums of a row of dtable, in the order of the interface.
std::vector<float> sums_of(embedding_backward_operands const& x, std::size_t row) {
  std::vector<float> all(static_cast<std::size_t>(x.dtable.cols()), 0), piece = all;
  auto const& tokens = x.named[row];
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    auto const dy = given_row(x.dy, tokens[i]);
    for (std::size_t col = 0; col < all.size(); ++col) {
      piece[col] += static_cast<float>(dy[col]);
      if (i % 128 != 127 && i + 1 != tokens.size()) continue;
      all[col] += piece[col];
      piece[col] = 0;
    }
  }
  return all;
}

embedding_backward_case of_tokens(std::int64_t tokens, std::int64_t v, std::int64_t d, int turn) {
  auto x = embedding_backward_of({.rank = 2, .rows = tokens, .width = d}, v);
  x.type = row_types[turn % 3];
  x.table_type = turn % 2 ? x.type : dtype::fp32;
  x.ids = turn % 4 < 2 ? id_kind::half : id_kind::repeated;
  return x;
}

TEST_CASE("sums are in the order that the interface says") {
  int turn = 0;
  for (std::int64_t const d : {8, 63, 1000, 1024, 4100})
    for (std::int64_t const tokens : {50, 300, 2000}) {
      if (test_level() == level::quick && d > 63 && tokens > 300) continue;
      embedding_backward_operands x(of_tokens(tokens, 9, d, turn++));
      auto const check = [&] {
        REQUIRE(launch_twice(x) == "");
        std::int64_t wrong = 0;
        for (std::size_t row = 0; row < x.named.size(); ++row) {
          auto const sums = sums_of(x, row);
          for (std::size_t col = 0; col < sums.size(); ++col)
            wrong += result_at(x.dtable, std::int64_t(row), std::int64_t(col)) !=
                     rounded(x.dtable.type, double{sums[col]});
        }
        CHECK_MESSAGE(wrong == 0, describe(x.of));
      };
      check();
      with_other_multiprocessors(check);
    }
}

// Of a problem's tokens those that name some rows, in their order, among others; the rows have
// other numbers, in a table of another size.
TEST_CASE("rows do not depend on other rows and their tokens") {
  int turn = 0;
  for (std::int64_t const d : {8, 130, 1024})
    for (std::int64_t const tokens : {40, 700, 1500}) {
      embedding_backward_operands large(of_tokens(tokens, 16, d, turn++));
      REQUIRE(launch_twice(large) == "");
      std::vector<std::int64_t> kept;
      for (std::int64_t i = 0; i < tokens; ++i)
        if (auto const id = id_at(large.ids, i, 16); id >= 0 && id % 3 == 0) kept.push_back(i);
      auto c = large.of;
      auto const before = static_cast<std::int64_t>(turn % 5);
      c.tokens.rows = 2 * static_cast<std::int64_t>(kept.size()) + before;
      c.shape.rows = 40;
      embedding_backward_operands few(c);
      for (std::int64_t i = 0; i < c.tokens.rows; ++i) {
        bool const is_kept = i >= before && (i - before) % 2 == 1;
        auto const from = is_kept ? kept[static_cast<std::size_t>((i - before) / 2)] : 0;
        set(few.ids, i, 0,
            is_kept ? static_cast<double>(id_at(large.ids, from, 16) + 2)
                    : static_cast<double>(i % 7 ? 1 : 41 - i % 4));
        if (is_kept)
          for (std::int64_t col = 0; col < d; ++col)
            set(few.dy, i, col, given_row(large.dy, from)[static_cast<std::size_t>(col)]);
      }
      few.find_tokens();
      REQUIRE(launch_twice(few) == "");
      CHECK(compare(few).wrong == "");
      row_comparison bits;
      for (std::int64_t row = 0; row < 16; row += 3)
        bits.add(few.dtable, row + 2, large.dtable, row);
      CHECK_MESSAGE(bits.wrong() == "", describe(c));
      CHECK(bits.compared() == 6);
    }
}

}  // namespace
}  // namespace tk::test
