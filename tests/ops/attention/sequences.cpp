// SPDX-License-Identifier: MIT
// Which blocks of queries and of keys meet: seen from the queries and from the keys it is the same
// pairs, and every pair of a row and a key that it sees is in one of them.
#include "ops/attention/sequences.hpp"

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace tk
