// SPDX-License-Identifier: MIT
// Which blocks of queries and of keys meet: seen from the queries and from the keys it is the same
// pairs, and every pair of a row and a key that it sees is in one of them. Blocks of packed
// sequences have their places apart from one another.
#include "ops/attention/sequences.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace tk {
namespace {

bool sees(key_window const& x, sequence const& of, int row, int key) {
  int const opposite = row + of.nk - of.nq;
  return key >= opposite - x.left && key <= opposite + x.right;
}

TEST_CASE("blocks meet where a row of one sees a key of the other, from both sides") {
  std::int64_t pairs = 0, wrong = 0;
  for (int const nq : {0, 1, 5, 16, 33, 64, 97})
    for (int const nk : {0, 1, 7, 16, 40, 64, 101})
      for (int const left : {0, 1, 9, 30, nk})
        for (int const right : {0, 1, 13, 32, nq})
          for (int const height : {8, 16, 32})
            for (int const width : {8, 24, 64}) {
              sequence const of{0, 0, nq, nk};
              key_window const x{left, right};
              for (int q = 0; q * height < nq; ++q)
                for (int k = 0; k * width < nk; ++k, ++pairs) {
                  bool expected = false;
                  for (int i = q * height; i < nq && i < (q + 1) * height; ++i)
                    for (int j = k * width; j < nk && j < (k + 1) * width; ++j)
                      expected = expected || sees(x, of, i, j);
                  auto const keys = blocks_of(x.keys_seen(of, q * height, height), width);
                  auto const rows = blocks_of(x.rows_seeing(of, k * width, width), height);
                  wrong += (keys.first <= k && k < keys.last) != expected;
                  wrong += (rows.first <= q && q < rows.last) != expected;
                }
            }
  CHECK(pairs == 72500);
  CHECK(wrong == 0);
}

TEST_CASE("windows as wide as lengths go") {
  constexpr int most = 2147482623;
  key_window const all{most / 2, most / 2};
  sequence const of{0, 0, most / 2, most / 2};
  CHECK(all.keys_seen(of, most / 2 - 64, 64).first == 0);
  CHECK(all.keys_seen(of, 0, 64).last == most / 2);
  CHECK(all.rows_seeing(of, most / 2 - 64, 64).first == 0);
  CHECK(all.rows_seeing(of, 0, 64).last == most / 2);
}

TEST_CASE("blocks of packed sequences have places of their own") {
  std::vector<std::vector<std::int32_t>> const all{
      {0, 0},          {0, 1},       {0, 16, 32}, {0, 15, 30, 31, 31, 47}, {5, 5, 40},
      {3, 20, 21, 90}, {90, 90, 90}, {0, 90},     {0, 0, 0, 0, 90, 90}};
  for (auto const& starts : all)
    for (int const height : {4, 16, 64, 128}) {
      int const sequences = static_cast<int>(starts.size()) - 1;
      packed_rows const x{starts.data(), sequences, 90, 90};
      int next = 0;
      for (int s = 0; s < sequences; ++s) {
        int const first = x.first_block(s, height), count = ceil_div(x.length(s), height);
        CHECK(first >= next);
        for (int block = first; block < first + count; ++block)
          CHECK(x.sequence_of(block, height) == s);
        next = first + count;
      }
      CHECK(next <= x.blocks(height));
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

}  // namespace
}  // namespace tk
