// SPDX-License-Identifier: MIT
// timeout: 600
// rotary thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/rotary/rotary.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Heads for each class of tiles, so many that some are dealt late, and longer ones.
std::vector<rotary_case> many_heads() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<rotary_case> all;
  int turn = 0;
  for (std::int64_t const width : {64, 128, 256, 520, 4096}) {
    auto x = rotary_of({.rank = 4, .b = 2, .h = 5, .rows = 3, .width = width});
    if (width == 128) x.shape.h = 40 * units;
    x.type = ++turn % 3 ? dtype::bf16 : dtype::fp32;
    x.interleaved = turn % 2;
    x.tokens = static_cast<tokens_at>(turn % 3);
    x.has_k = turn % 4;
    x.place = turn == 2 ? row_place::on_first : row_place::apart;
    all.push_back(x);
  }
  return all;
}

rotary_case few_heads(int i) {
  auto x = rotary_of({.rank = 3, .h = 1 + i % 7, .rows = 1 + i % 3, .width = 30 + 61 * (i % 9)});
  x.interleaved = i % 2;
  x.tokens = static_cast<tokens_at>(i % 3);
  x.has_k = i % 5;
  return x;
}

TEST_CASE("rotary gives the same bits thirty times") { run_repeats<rotary_operands>(many_heads()); }
TEST_CASE("rotary from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_heads);
}

}  // namespace
}  // namespace tk::test
