// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_norm with y of fp8: widths, types, places and layouts, with a scale for each row, powers of
// two among them, and with one that is given; special values; rows without company; equal bits.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Turns of types, kinds, scales and operands. Of the given scales the second has y saturate.
norm_case begin(std::size_t turn) {
  norm_case x{.shape = shape_of_turn(turn)};
  x.kind = turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.type = turn / 2 % 2 ? dtype::fp16 : dtype::bf16;
  x.fp8 = turn / 4 % 2 ? dtype::fp8_e5m2 : dtype::fp8_e4m3;
  x.power_of_two = turn % 3 == 1;
  if (turn % 3 == 2) x.given_scale = turn % 2 ? 0.02f : x.fp8 == dtype::fp8_e4m3 ? 3e-3f : 3e-5f;
  x.residual = turn % 7 != 0, x.store_r = turn % 5 != 0;
  x.weight = turn % 11 != 0, x.bias = turn % 13 > 4;
  x.scale = turn % 5 ? column_type::of_rows : column_type::fp32;
  return x;
}

std::vector<norm_case> sizes() {
  std::vector<norm_case> cases;
  std::size_t turn = 0;
  bool const quick = test_level() == level::quick;
  for (std::int64_t const width :
       {0, 1, 7, 63, 64, 120, 193, 1000, 1024, 1025, 3072, 4096, 5120, 8191, 8192, 16400, 65536})
    for (std::size_t i = 0; i < (quick ? 5 : 30); ++i) {
      auto x = begin(turn++);
      x.shape = {.rank = 2, .rows = width < 200 ? 37 : 5, .width = width};
      cases.push_back(x);
    }
  for (std::int64_t const width : {8, 64, 136}) {
    auto x = begin(turn++);
    x.shape = {.rank = 2, .rows = 130 * be::rt::device().multiprocessors + 3, .width = width};
    cases.push_back(x);
  }
  return cases;
}

std::vector<norm_case> layouts() {
  constexpr layout_of<norm_case> operands[] = {&norm_case::x_layout, &norm_case::residual_layout,
                                               &norm_case::y_layout, &norm_case::r_layout,
                                               &norm_case::y_scale_layout};
  auto all = layout_table(operands, begin);
  if (test_level() != level::quick) return all;
  std::vector<norm_case> some;
  for (std::size_t i = 0; i < all.size(); i += 5) some.push_back(all[i]);
  return some;
}

// x, and in turn residual and the scales, are parts of packed projections.
std::vector<norm_case> packed() {
  std::vector<norm_case> cases;
  for (std::int64_t const width : {64, 100, 1025})
    for (bool const heads_first : {false, true})
      for (bool const others : {false, true})
        for (int i = 0; i < 2; ++i) {
          auto x = begin(cases.size());
          x.shape = {.rank = 4, .b = 2, .h = 3, .rows = 5, .width = width};
          matrix_layout part{.parts = 3};
          if (heads_first) part.batch = matrix_layout::batches::interleaved;
          x.x_layout = part;
          if (others) x.residual_layout = x.y_scale_layout = part;
          cases.push_back(x);
        }
  return cases;
}

std::vector<norm_case> r_in_place() {
  std::vector<norm_case> cases;
  std::size_t turn = 1;
  for (auto const place : {row_place::on_first, row_place::on_second})
    for (std::int64_t const width : widths_in_place)
      for (auto const& way : places_for_two()) {
        auto x = begin(turn++);
        x.shape.width = width;
        x.residual = x.store_r = true;
        x.r_place = place;
        x.x_layout = x.residual_layout = way;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("norm to fp8 at many widths") { run_table("sizes", sizes()); }
TEST_CASE("norm to fp8 with odd layouts") { run_table("layouts", layouts()); }
TEST_CASE("norm to fp8 of packed projections") { run_table("packed", packed()); }
TEST_CASE("norm to fp8 with r in place") { run_table("in place", r_in_place()); }

// The scale of y is that of its numbers, large and small; where all are 0, of 2^-80.
TEST_CASE("scales follow y") {
  for (auto const to : {dtype::fp8_e4m3, dtype::fp8_e5m2})
    for (double const size : {0.0, 0x1p-20, 1.0, 3000.0}) {
      norm_case c{.shape = {.rank = 2, .rows = 5, .width = 300}, .kind = TK_NORM_RMS};
      c.fp8 = to;
      c.eps = 1;  // which is what counts of small numbers
      c.bias = false;
      c.size = size;
      norm_operands x(c);
      REQUIRE(launch_twice(x) == "");
      auto const v = compare(x);
      CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
      if (size == 0)
        CHECK(result_at(x.y_scale, 4, 0) ==
              static_cast<double>(0x1p-80f / static_cast<float>(format_of(to).largest)));
    }
}

TEST_CASE("NaN and infinity stay in their row") {
  std::size_t turn = 0;
  for (auto const kind : {TK_NORM_LAYER, TK_NORM_RMS})
    for (auto const to : {dtype::fp8_e4m3, dtype::fp8_e5m2}) {
      norm_case c{.shape = {}, .kind = kind, .residual = true, .store_r = kind == TK_NORM_LAYER};
      c.fp8 = to;
      if (turn++ % 2) c.given_scale = 0.02f;
      for (auto const input : {&norm_operands::x, &norm_operands::residual})
        check_specials(c, input, {std::nan(""), HUGE_VAL});
    }
}

TEST_CASE("norm to fp8 gives the same bits thirty times") {
  std::vector<norm_case> cases;
  std::size_t turn = 0;
  for (std::int64_t const width : {64, 1000, 4096, 8192, 20000}) {
    auto x = begin(turn++);
    x.shape = {.rank = 2, .rows = 3 * be::rt::device().multiprocessors, .width = width};
    cases.push_back(x);
  }
  run_repeats<norm_operands>(cases);
}

TEST_CASE("rows of fp8 do not depend on the other rows") {
  std::size_t turn = 0;
  for (std::int64_t const width : {64, 1000, 1024, 4096, 8191, 20000}) {
    auto x = begin(turn++);
    x.shape = {.rank = 2, .width = width};
    // Another order of sums shows where a large mean is subtracted.
    if (x.kind == TK_NORM_LAYER) x.mean = 1000, x.size = 16;
    x.given_scale.reset();
    check_rows_alone(x, most_rows(width));
  }
}

}  // namespace
}  // namespace tk::test
