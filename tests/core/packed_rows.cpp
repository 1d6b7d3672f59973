// SPDX-License-Identifier: MIT
// Packed sequences: each row is in one block, and each block finds the sequence that it is of,
// whatever lies in front of sequences, behind them, or is empty; offsets outside of the tensor, or
// that decrease, never lead out of it.
#include "core/packed_rows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/random.hpp"

namespace tk {
namespace {

// Offsets in any order, some outside of [0, total], of so many sequences.
std::vector<std::int32_t> offsets(int sequences, int total, std::uint64_t seed) {
  std::vector<std::int32_t> starts;
  for (int i = 0; i <= sequences; ++i)
    starts.push_back(static_cast<int>(test::random_below(total + total / 4 + 1, seed,
                                                         static_cast<std::uint64_t>(i))) -
                     total / 8);
  return starts;
}

// Blocks of a height against rows one by one; offsets do not decrease.
int wrong_blocks(packed_rows const& x, int height) {
  int wrong = 0, next = 0;
  std::vector<int> visits(static_cast<std::size_t>(x.total));
  for (int s = 0; s < x.sequences; ++s) {
    int const first = x.first_block(s, height), count = ceil_div(x.length(s), height);
    wrong += first < next;  // the places of the sequence before
    for (int block = first; block < first + count; ++block) {
      wrong += x.sequence_of(block, height) != s;
      int const from = (block - first) * height, to = std::min(from + height, x.length(s));
      for (int row = x.start(s) + from; row < x.start(s) + to; ++row)
        if (row >= 0 && row < x.total) ++visits[static_cast<std::size_t>(row)];
        else ++wrong;
    }
    next = first + count;
  }
  wrong += next > x.blocks(height);
  for (int row = 0; row < x.total; ++row) {
    bool expected = false;
    for (int s = 0; s < x.sequences; ++s)
      expected =
          expected || (row >= x.starts[s] && row < x.starts[s + 1] && row - x.start(s) < x.most);
    wrong += visits[static_cast<std::size_t>(row)] != expected;
  }
  return wrong;
}

TEST_CASE("every row of a sequence is in one block, which finds the sequence") {
  std::vector<std::vector<std::int32_t>> all{{0, 0},
                                             {0, 1},
                                             {0, 16, 32},
                                             {0, 15, 30, 31, 31, 47},
                                             {5, 5, 40},
                                             {3, 20, 21, 90},
                                             {90, 90, 90},
                                             {0, 90},
                                             {0, 0, 0, 0, 90, 90},
                                             {-40, -3, 10, 95, 2000000000}};
  for (int const sequences : {1, 2, 3, 7, 64, 333})
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      all.push_back(offsets(sequences, 90, seed));
      std::sort(all.back().begin(), all.back().end());
    }
  for (auto const& starts : all)
    for (int const height : {1, 4, 16, 64, 128})
      for (int const most : {90, 17, 0}) {
        packed_rows const x{starts.data(), static_cast<int>(starts.size()) - 1, 90, most};
        CAPTURE(starts.size());
        CAPTURE(height);
        CAPTURE(most);
        REQUIRE(wrong_blocks(x, height) == 0);
      }
}

TEST_CASE("blocks of nobody's are of the last sequence that begins before them") {
  std::vector<std::int32_t> const starts{3, 20, 20, 21};
  packed_rows const x{starts.data(), 3, 90, 90};
  std::vector<int> found;
  for (int block = 0; block < x.blocks(16); ++block) found.push_back(x.sequence_of(block, 16));
  CHECK(found == std::vector{0, 0, 1, 2, 2, 2, 2, 2});
}

TEST_CASE("offsets that decrease lead to sequences and rows that there are") {
  for (int const sequences : {1, 2, 5, 40})
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      auto const starts = offsets(sequences, 90, 100 + seed);
      packed_rows const x{starts.data(), sequences, 90, 40};
      int wrong = 0;
      for (int s = 0; s < sequences; ++s) {
        wrong += x.start(s) < 0 || x.start(s) > 90 || x.length(s) > 40;
        wrong += x.length(s) > 0 && x.start(s) + x.length(s) > 90;
      }
      for (int const height : {1, 16, 128})
        for (int block = 0; block < x.blocks(height); ++block) {
          int const s = x.sequence_of(block, height);
          wrong += s < 0 || s >= sequences;
        }
      REQUIRE(wrong == 0);
    }
}

TEST_CASE("no sequence is longer than the most") {
  std::vector<std::int32_t> const starts{-5, 30, 20, 200};
  packed_rows const x{starts.data(), 3, 90, 40};
  CHECK(x.start(0) == 0);
  CHECK(x.length(0) == 30);
  CHECK(x.length(1) == -10);
  CHECK(x.length(2) == 40);
}

TEST_CASE("as many rows as an int counts") {
  constexpr int most = std::numeric_limits<int>::max();
  std::vector<std::int32_t> const starts{0, 5, most - 20, most};
  packed_rows const x{starts.data(), 3, most, most};
  CHECK(x.length(1) == most - 25);
  CHECK(x.blocks(16) == most / 16 + 3);
  CHECK(x.first_block(2, 16) == (most - 20) / 16 + 2);
  CHECK(x.sequence_of(x.first_block(2, 16) - 1, 16) == 1);
  CHECK(x.sequence_of(x.blocks(16) - 1, 16) == 2);
}

}  // namespace
}  // namespace tk
