// SPDX-License-Identifier: MIT
// timeout: 600
// tk_norm_backward with dropout, and with r, dr and dresidual in fp32 beside 16 bits: widths,
// ranks, types, places and layouts against the oracle; the forward's mask; equal bits.
#include "tests/ops/norm/backward_oracle.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

using test_case = norm_backward_case;
constexpr float shares[] = {0.5f, 0.1f, 0, 255.f / 256};

test_case begin(std::size_t turn) {
  test_case x{.shape = shape_of_turn(turn)};
  x.kind = turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.type = row_types[turn / 2 % 3];
  x.stream = turn % 3 ? column_type::fp32 : column_type::of_rows;
  x.mask.p = shares[turn % 4];
  x.mask.on_device = turn % 5 == 0;
  x.mask.seed = 0x123456789abcdefu * (turn + 1), x.mask.offset = turn << 30;
  x.dresidual = x.mask.p > 0 || turn % 3 == 0;
  x.dr = turn % 7 != 0;
  x.dweight = turn % 5 != 1, x.dbias = turn % 3 != 1;
  x.weight_type = turn % 5 ? column_type::of_rows : column_type::fp32;
  x.sums_type = turn % 3 ? column_type::of_rows : column_type::fp32;
  return x;
}

std::vector<test_case> sizes() {
  std::vector<test_case> cases;
  std::size_t turn = 0;
  bool const quick = test_level() == level::quick;
  for (std::int64_t const width : {1, 7, 63, 120, 1000, 1024, 3072, 5120, 8191, 8192, 65536})
    for (std::size_t i = 0; i < (quick ? 4 : 24); ++i) {
      auto x = begin(turn++);
      x.shape = {.rank = 4, .b = 2, .h = 2, .rows = width < 200 ? 9 : 2, .width = width};
      cases.push_back(x);
    }
  return cases;
}

std::vector<test_case> layouts() {
  constexpr layout_of<test_case> operands[] = {&test_case::r_layout, &test_case::dy_layout,
                                               &test_case::dr_layout, &test_case::dx_layout,
                                               &test_case::dresidual_layout};
  auto all = layout_table(operands, begin);
  if (test_level() != level::quick) return all;
  std::vector<test_case> some;
  for (std::size_t i = 0; i < all.size(); i += 7) some.push_back(all[i]);
  return some;
}

std::vector<test_case> in_place() {
  std::vector<test_case> cases;
  using enum dx_place;
  constexpr dx_place pairs[][2] = {{on_dy, on_dr}, {on_dy, on_r}, {apart, on_dr}, {on_r, on_dr}};
  for (auto const& [dx, dresidual] : pairs)
    for (std::int64_t const width : widths_in_place)
      for (auto const& way : places_for_two()) {
        auto x = begin(cases.size());
        x.shape.width = width;
        x.dr = x.dresidual = true;
        x.place = dx, x.dresidual_place = dresidual;
        if (dx == on_r) x.stream = column_type::of_rows;
        x.r_layout = x.dy_layout = x.dr_layout = way;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("norm's backward with dropout and with a residual stream in fp32") {
  run_table("sizes", sizes());
}
TEST_CASE("the backward of dropout with odd layouts") { run_table("layouts", layouts()); }
TEST_CASE("the backward of dropout in place") { run_table("in place", in_place()); }

TEST_CASE("the backward drops what the forward dropped") {
  for (std::int64_t const width : {63, 1000, 8192, 20000}) {
    norm_case f{.shape = {.rank = 2, .rows = 12, .width = width}, .store_r = true, .mean = 1};
    f.size = 0, f.mask.p = 0.3f;
    norm_operands forward(f);
    REQUIRE(launch_twice(forward) == "");
    test_case b{.shape = {.rank = 3, .h = 3, .rows = 4, .width = width}};
    b.dr = b.dresidual = true;
    b.mask = f.mask;
    norm_backward_operands backward(b);
    REQUIRE(launch_twice(backward) == "");
    std::int64_t different = 0, dropped = 0;
    for (std::int64_t row = 0; row < 12; ++row)
      for (std::int64_t col = 0; col < width; ++col) {
        bool const kept = result_at(forward.r, row, col) != 0;
        dropped += !kept;
        different += kept != (result_at(backward.dx, row, col) != 0) &&
                     result_at(backward.dresidual, row, col) != 0;
      }
    CHECK(different == 0);
    CHECK(dropped > width);
  }
}

TEST_CASE("norm's backward with dropout gives the same bits thirty times") {
  std::vector<test_case> cases;
  for (std::int64_t const width : {64, 1000, 4096, 8192, 20000}) {
    auto x = begin(cases.size());
    x.mask.p = 0.25f, x.dresidual = true;
    x.shape = {.rank = 2, .rows = 3 * be::rt::device().multiprocessors, .width = width};
    cases.push_back(x);
  }
  run_repeats<norm_backward_operands>(cases);
}

TEST_CASE("rows of the backward with dropout do not depend on the other rows") {
  for (std::int64_t const width : {64, 1000, 4096, 20000}) {
    auto c = begin(static_cast<std::size_t>(width));
    c.mask.on_device = false, c.mask.p = 0.25f, c.dresidual = true;
    c.shape = {.rank = 2, .rows = most_rows(width), .width = width};
    norm_backward_operands large(c);
    compare_small_problems(
        large, c.shape.rows,
        [](auto const& all, std::int64_t first, std::int64_t count, std::int64_t& rows) {
          return first ? std::string() : compare_part(all, first, count, rows);
        });
  }
}

}  // namespace
}  // namespace tk::test
