// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_softmax at the sizes of sizes.txt: three types, with and without mask, bias and scores of
// -inf; scales and sizes of scores; special values.
#include "tests/ops/softmax/softmax.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 71: types, masks, biases, all of them with all; scales, what of bias is broadcast, and
// scores of -inf go round.
constexpr int kinds = 72;
softmax_case of_kind(row_shape const& shape, int kind) {
  constexpr float scales[] = {1, 0.125f, -2, 1, 0, 3.5f, 1};
  softmax_case x{.shape = shape};
  x.type = row_types[kind % 3];
  x.mask = kind / 3 % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.bias = static_cast<bias_use>(kind / 6 % 3);
  x.unseen = static_cast<holes>(kind / 18 % 4 % 3);
  x.scale = scales[kind % 7];
  x.broadcast = kind % 8;
  x.size = kind % 5 ? 1 : 8;
  return x;
}

// Scores whose rounding exp magnifies, those of which one is all that counts, and equal ones.
std::vector<softmax_case> large_scores() {
  std::vector<softmax_case> cases;
  for (std::int64_t const width : {17, 193, 1000, 4096, 8192, 20000})
    for (auto const type : row_types)
      for (double const size : {0, 1, 30, 200}) {
        softmax_case x{.shape = {.rank = 2, .rows = 3, .width = width}};
        x.type = type;
        x.mean = cases.size() % 2 ? 1000 : -1000;
        x.size = size;
        x.scale = cases.size() % 3 ? 1 : -1;
        x.bias = static_cast<bias_use>(cases.size() / 4 % 3);
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("NaN and infinity stay in their row") {
  int turn = 0;
  for (float const scale : {1.f, -0.5f, 0.f})
    for (auto const mask : {TK_MASK_NONE, TK_MASK_CAUSAL}) {
      softmax_case c{.shape = {}, .mask = mask, .scale = scale};
      c.type = row_types[turn % 3];
      check_specials(c, &softmax_operands::x, {std::nan(""), HUGE_VAL, -HUGE_VAL});
      c.bias = ++turn % 2 ? bias_use::same_type : bias_use::fp32;
      check_specials(c, &softmax_operands::bias, {std::nan(""), HUGE_VAL, -HUGE_VAL});
    }
}
// Where all other scores are -inf, no finite one tells NaN and +inf from a row without weight.
TEST_CASE("NaN and infinity among scores of -inf") {
  for (auto const type : row_types) {
    softmax_case c{.shape = {}, .type = type, .unseen = holes::rows};
    check_specials(c, &softmax_operands::x, {std::nan(""), HUGE_VAL}, 1);
    c.bias = bias_use::same_type;
    check_specials(c, &softmax_operands::bias, {std::nan(""), HUGE_VAL}, 1);
    check_special<softmax_case>({.shape = {.rank = 1}, .type = type}, &softmax_operands::x,
                                std::nan(""), 0, 0);
  }
}
TEST_CASE("an element of the largest score is all that counts") {
  softmax_case c{.shape = {}, .type = dtype::fp32};
  check_specials(c, &softmax_operands::x, {1e30, 0x1.8p126, -0x1.8p126});
}

TEST_CASE("softmax at every size") { run_table("sizes", size_table("softmax", kinds, of_kind)); }
TEST_CASE("softmax of large scores") { run_table("large scores", large_scores()); }
TEST_CASE("softmax of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("softmax", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(static_cast<int>(x.type) + 3 * (x.mask == TK_MASK_CAUSAL) +
                6 * static_cast<int>(x.bias) + 18 * static_cast<int>(x.unseen));
  CHECK(seen.size() == 54);
  CHECK(widths_without_case(cases).empty());
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
