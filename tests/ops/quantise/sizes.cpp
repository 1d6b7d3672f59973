// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_quantise at the sizes of sizes.txt: all blocks, types of x and y, and powers of two; special
// values.
#include "tests/ops/quantise/quantise.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

TEST_CASE("NaN and infinity stay in their block") {
  for (int kind = 0; kind < 5; ++kind)
    for (auto const y_type : {dtype::fp8_e4m3, dtype::fp8_e5m2}) {
      quantise_case c;
      c.kind = static_cast<tk_scale_kind>(kind);
      c.y_type = y_type;
      c.type = kind % 2 ? dtype::fp32 : dtype::fp16;
      check_specials(c, &quantise_operands::x, {std::nan(""), HUGE_VAL, -HUGE_VAL});
    }
}

TEST_CASE("zeros, subnormals and the largest numbers") {
  for (auto const type : row_types)
    for (int kind = 0; kind < 5; ++kind)
      for (auto const y_type : {dtype::fp8_e4m3, dtype::fp8_e5m2})
        for (double const size : {0.0, 0x1p-130, 0x1p-16, 1e30, 0x1p127}) {
          quantise_case c{.shape = {.rank = 2, .rows = 5, .width = 300}, .type = type};
          if (type == dtype::fp16 && size > 1) continue;
          c.y_type = y_type;
          c.kind = static_cast<tk_scale_kind>(kind);
          c.size = size;
          c.power_of_two = kind < 4 && size < 1;
          quantise_operands x(c);
          for (int row = 0; row < 4; ++row) {
            auto const largest = row % 2 ? -1.0 : 1.0;
            if (size > 1) set(x.x, row, 7 * row, largest * format_of(type).largest);
          }
          auto const v = run_operands(x);
          CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
        }
}

// Every number halfway between two of y's, and those next to it.
TEST_CASE("rounding is to nearest even, and saturates") {
  for (auto const y_type : {dtype::fp8_e4m3, dtype::fp8_e5m2}) {
    std::vector<float> values;
    std::byte bits{0};
    for (int i = 0; i < 0x7c; ++i) {
      bits = static_cast<std::byte>(i);
      auto const low = static_cast<float>(decode(y_type, &bits));
      bits = static_cast<std::byte>(i + 1);
      auto const high = static_cast<float>(decode(y_type, &bits));
      float const half = i == 0x7b && y_type == dtype::fp8_e5m2 ? 61440 : (low + high) / 2;
      for (float const v : {low, half})
        for (float const w : {v, std::nextafter(v, HUGE_VALF), std::nextafter(v, 0.f)})
          values.push_back(values.size() % 2 ? -w : w);
    }
    for (float const v : {500.f, 70000.f, 1e20f, HUGE_VALF}) values.push_back(v);
    quantise_case c{.shape = {.rank = 1, .width = static_cast<std::int64_t>(values.size())}};
    c.type = dtype::fp32;
    c.y_type = y_type;
    c.kind = TK_SCALE_GIVEN;
    c.given = 1;
    quantise_operands x(c);
    for (std::size_t i = 0; i < values.size(); ++i)
      set(x.x, 0, static_cast<std::int64_t>(i), static_cast<double>(values[i]));
    auto const v = run_operands(x);
    CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
  }
}

TEST_CASE("quantise at every size") {
  run_table("sizes", size_table("quantise", quantise_kinds, quantise_of_kind));
}
TEST_CASE("quantise of many short rows") {
  run_table("tails", tail_table(quantise_kinds, quantise_of_kind));
}
// More parts than one row has of their scales.
TEST_CASE("a tensor of many rows that lie apart") {
  quantise_case c{.shape = {.rank = 2, .rows = 66000, .width = 3}};
  c.kind = TK_SCALE_TENSOR;
  c.x_layout.padding = 1;
  run_table("many rows", std::vector{c});
}
// More dimensions than a launch has.
TEST_CASE("blocks of matrices that lie anywhere") {
  std::vector<quantise_case> cases;
  for (auto const kind : {TK_SCALE_1X128, TK_SCALE_128X128, TK_SCALE_TENSOR})
    for (int i = 0; i < 4; ++i) {
      quantise_case c{.shape = {.rank = 4, .b = 3, .h = 2, .rows = 140, .width = 400}};
      c.kind = kind;
      if (i & 1) c.x_layout = {.padding = 8, .batch = matrix_layout::batches::padded};
      if (i & 2) c.y_layout = {.padding = 16, .batch = matrix_layout::batches::padded};
      if (i == 3) c.scale_layout = {.padding = 1, .batch = matrix_layout::batches::padded};
      cases.push_back(c);
    }
  run_table("matrices", cases);
}

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("quantise", quantise_kinds, quantise_of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(x.kind + 5 * static_cast<int>(x.type) + 15 * (x.y_type == dtype::fp8_e5m2) +
                30 * x.power_of_two);
  CHECK(seen.size() == quantise_kinds - 6);  // given scales are no powers of two
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
