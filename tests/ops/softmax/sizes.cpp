// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_softmax at the sizes of sizes.txt: three types, with and without masks, bias and scores of
// -inf; scales and sizes of scores; special values.
#include <numbers>

#include "tests/ops/softmax/softmax.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 71: types, masks, biases, all of them with all; scales, what of bias is broadcast,
// scores of -inf, and boolean masks go round.
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
  if (int const turn = kind * 7 % 11; turn < 5) {
    x.bool_mask = turn % 4 ? bool_mask_use::boolean : bool_mask_use::uint8;
    x.mask_broadcast = kind / 5 % 8;
  }
  return x;
}

// Both kinds of masks with all types and biases, in one tile and in several.
std::vector<softmax_case> masked() {
  std::vector<softmax_case> cases;
  for (std::int64_t const width : {8, 17, 193, 1000, 1024, 4096, 4100, 8192, 20000, 32768})
    for (auto const type : row_types)
      for (auto const bias : {bias_use::none, bias_use::same_type, bias_use::fp32}) {
        auto const turn = static_cast<int>(cases.size());
        softmax_case x{.shape = {.rank = 4, .b = 2, .h = 2, .rows = 3, .width = width}};
        x.type = type;
        x.bias = bias;
        x.mask = turn / 2 % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
        x.bool_mask = turn % 4 ? bool_mask_use::boolean : bool_mask_use::uint8;
        x.mask_broadcast = turn % 8;
        x.broadcast = turn % 5 < 3 ? x.mask_broadcast : turn / 5 % 8;
        cases.push_back(x);
      }
  return cases;
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
      c.bool_mask = bool_mask_use::boolean;
      check_specials(c, &softmax_operands::x, {std::nan(""), HUGE_VAL, -HUGE_VAL});
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

// From 2^-124 to 2^-128, beside one that is nearly 1.
TEST_CASE("weights that exp2 may make 0") {
  for (std::int64_t const width : {65, 1000, 4096, 20000})
    for (float const scale : {1.f, -0.5f}) {
      softmax_case c{.shape = {.rank = 2, .rows = 3, .width = width}, .type = dtype::fp32};
      c.scale = scale;
      softmax_operands x(c);
      for (std::int64_t row = 0; row < 3; ++row)
        for (std::int64_t col = 0; col < width; ++col) {
          double const power = 124 + 4 * static_cast<double>(col) / static_cast<double>(width);
          double const score = col == 7 * row ? 0 : -std::numbers::ln2 * power;
          set(x.x, row, col, score / static_cast<double>(scale));
        }
      auto const v = run_operands(x);
      CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
    }
}

TEST_CASE("softmax at every size") { run_table("sizes", size_table("softmax", kinds, of_kind)); }
TEST_CASE("softmax with a boolean mask") { run_table("masked", masked()); }
TEST_CASE("softmax of large scores") { run_table("large scores", large_scores()); }
TEST_CASE("softmax of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("softmax", kinds, of_kind);
  std::set<int> seen, masked;
  for (auto const& x : cases) {
    int const kind =
        static_cast<int>(x.type) + 3 * (x.mask == TK_MASK_CAUSAL) + 6 * static_cast<int>(x.bias);
    seen.insert(kind + 18 * static_cast<int>(x.unseen));
    if (x.bool_mask != bool_mask_use::none) masked.insert(kind);
  }
  CHECK(seen.size() == 54);
  CHECK(masked.size() == 18);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
