// SPDX-License-Identifier: MIT
// timeout: 600
// tk_norm on rows that lie in memory in every way the interface allows: slices, strides and
// addresses that no vector load or bulk copy takes, negative and zero strides; in place.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

using layout_of = matrix_layout norm_case::*;

constexpr layout_of operands[] = {&norm_case::x_layout, &norm_case::residual_layout,
                                  &norm_case::y_layout, &norm_case::r_layout};

std::vector<matrix_layout> layouts() {
  return {
      {.null_strides = true},
      {.padding = 1},                      // an odd row stride
      {.padding = 8},                      // a slice that keeps 16-byte alignment
      {.padding = 61, .misalignment = 3},  // and one that does not
      {.misalignment = 1},
      {.misalignment = 4},  // 8 bytes
      {.padding = 3, .reversed = true},
      {.reversed = true},
      {.byte_offset = 2048},
      {.padding = 2, .misalignment = 8, .byte_offset = 48},
  };
}

norm_case begin(std::size_t turn) {
  constexpr std::int64_t widths[] = {193, 1024, 1000, 2056, 17, 4104};
  norm_case x{.rows = 5, .width = widths[turn % 6]};
  x.kind = turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.type = turn / 2 % 3 == 0 ? dtype::bf16 : turn / 2 % 3 == 1 ? dtype::fp16 : dtype::fp32;
  x.residual = x.store_r = true;
  x.weight_misalignment = static_cast<int>(turn % 4);
  x.bias_misalignment = static_cast<int>(turn / 2 % 4);
  return x;
}

// Each layout on each operand alone, and on all at once.
std::vector<norm_case> all_layouts() {
  std::vector<norm_case> cases;
  std::size_t turn = 0;
  auto const ways = layouts();
  for (auto const operand : operands)
    for (auto const& way : ways)
      for (std::size_t end = turn + 6; turn < end; ++turn) {
        cases.push_back(begin(turn));
        cases.back().*operand = way;
      }
  for (auto const operand : {&norm_case::x_layout, &norm_case::residual_layout})
    for (matrix_layout const& way : {matrix_layout{.row_stride = 0}, {.row_stride = 1}})
      for (std::size_t end = turn + 6; turn < end; ++turn) {
        cases.push_back(begin(turn));
        cases.back().*operand = way;
      }
  for (std::size_t i = 0; i < 4 * ways.size(); ++i) {
    cases.push_back(begin(turn++));
    for (std::size_t k = 0; k < 4; ++k)
      cases.back().*operands[k] = ways[(i * (2 * k + 1) + k) % ways.size()];
  }
  return cases;
}

// y and r on x and on residual, in either order, in rows of one tile and of several.
std::vector<norm_case> in_place() {
  std::vector<norm_case> cases;
  std::size_t turn = 0;
  using enum norm_place;
  constexpr norm_place pairs[][2] = {{on_x, apart},        {on_x, on_residual},
                                     {apart, on_residual}, {on_residual, on_x},
                                     {apart, on_x},        {on_residual, apart}};
  for (auto const& [y, r] : pairs)
    for (std::int64_t const width : {65, 1024, 8193, 20000})
      for (matrix_layout const& way :
           {matrix_layout{}, {.padding = 8}, {.padding = 3, .misalignment = 1}}) {
        auto x = begin(turn++);
        x.width = width;
        x.y_place = y, x.r_place = r;
        x.x_layout = x.residual_layout = way;
        cases.push_back(x);
      }
  // Without a residual, y on x.
  for (std::int64_t const width : {64, 1000, 16384}) {
    auto x = begin(turn++);
    x.width = width;
    x.residual = x.store_r = false;
    x.y_place = on_x;
    cases.push_back(x);
  }
  return cases;
}

// Offsets that need 64 bits: the last row begins more than 2^31 elements after the first.
std::vector<norm_case> far_rows() {
  std::vector<norm_case> cases;
  for (auto const operand : operands)
    for (std::int64_t const odd : {0, 1}) {
      auto x = begin(cases.size());
      x.type = dtype::bf16;
      x.rows = 5;
      x.*operand = {.row_stride = (std::int64_t{1} << 29) + 64 + odd};
      cases.push_back(x);
    }
  return cases;
}

TEST_CASE("norm with odd layouts") { run_table("layouts", all_layouts()); }
TEST_CASE("norm in place") { run_table("in place", in_place()); }
TEST_CASE("norm on far rows") {
  if (test_level() == level::card) run_table("far rows", far_rows());
}

}  // namespace
}  // namespace tk::test
