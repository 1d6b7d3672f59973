// SPDX-License-Identifier: MIT
// timeout: 600
// tk_norm with dropout, and with residual and r in fp32 beside 16 bits: widths, types, places and
// layouts against the oracle, which has the definition of random bytes; the share of elements that
// is kept, and whether neighbours know of each other; rows without company; equal bits.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr float shares[] = {0.5f, 0.1f, 0, 255.f / 256, 1.f / 1024};  // the last rounds to 0

// Turns of types, shares, kinds and operands; p is 0 where only the stream is of interest.
norm_case begin(std::size_t turn) {
  norm_case x{.shape = shape_of_turn(turn)};
  x.kind = turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.type = row_types[turn / 2 % 3];
  x.stream = turn % 4 < 2 ? column_type::fp32 : column_type::of_rows;
  x.mask.p = shares[turn % 5];
  x.mask.on_device = turn % 3 == 0;
  x.mask.seed = 0x123456789abcdefu * (turn + 1), x.mask.offset = turn << 30;
  x.residual = turn % 7 != 0, x.store_r = turn % 6 != 0;
  x.scale = turn % 5 ? column_type::of_rows : column_type::fp32;
  return x;
}

std::vector<norm_case> sizes() {
  std::vector<norm_case> cases;
  std::size_t turn = 0;
  bool const quick = test_level() == level::quick;
  for (std::int64_t const width : {1, 7, 63, 120, 1000, 1024, 3072, 5120, 8191, 8192, 65536})
    for (std::size_t i = 0; i < (quick ? 4 : 30); ++i) {
      auto x = begin(turn++);
      x.shape = {.rank = 2, .rows = width < 200 ? 37 : 5, .width = width};
      cases.push_back(x);
    }
  return cases;
}

std::vector<norm_case> layouts() {
  constexpr layout_of<norm_case> operands[] = {&norm_case::x_layout, &norm_case::residual_layout,
                                               &norm_case::y_layout, &norm_case::r_layout};
  auto all = layout_table(operands, begin);
  if (test_level() != level::quick) return all;
  std::vector<norm_case> some;
  for (std::size_t i = 0; i < all.size(); i += 5) some.push_back(all[i]);
  return some;
}

std::vector<norm_case> in_place() {
  std::vector<norm_case> cases;
  std::size_t turn = 1;
  using enum row_place;
  constexpr row_place pairs[][2] = {
      {on_first, on_second}, {on_second, on_first}, {on_first, apart}};
  for (auto const& [y, r] : pairs)
    for (std::int64_t const width : widths_in_place)
      for (auto const& way : places_for_two()) {
        auto x = begin(turn++);
        x.shape.width = width;
        x.residual = x.store_r = true;
        x.y_place = y, x.r_place = r;
        if (y == on_second || r == on_first) x.stream = column_type::of_rows;
        x.x_layout = x.residual_layout = way;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("norm with dropout and with a residual stream in fp32") { run_table("sizes", sizes()); }
TEST_CASE("dropout with odd layouts") { run_table("layouts", layouts()); }
TEST_CASE("dropout in place") { run_table("in place", in_place()); }

// x is 1 everywhere: r says what was kept.
std::vector<bool> kept_of(norm_case c) {
  c.residual = false, c.store_r = true;
  c.mean = 1, c.size = 0;
  norm_operands x(c);
  REQUIRE(launch_twice(x) == "");
  std::vector<bool> all;
  for (std::int64_t row = 0; row < c.shape.all_rows(); ++row)
    for (std::int64_t col = 0; col < c.shape.width; ++col)
      all.push_back(result_at(x.r, row, col) != 0);
  return all;
}

TEST_CASE("as many elements are kept as asked, and neighbours do not know of each other") {
  for (float const p : {0.1f, 0.5f, 0.875f}) {
    norm_case c{.shape = {.rank = 2, .rows = 64, .width = 1000}};
    c.mask.p = p;
    auto const kept = kept_of(c);
    auto const count = static_cast<double>(kept.size());
    double const q = 1 - drop_below(p) / 256., variance = q * (1 - q);
    double sum = 0;
    for (bool const k : kept) sum += k;
    CHECK(std::fabs(sum / count - q) < 5 * std::sqrt(variance / count));
    // Of independent elements the correlation is 0, give or take 1 / sqrt(count).
    for (std::size_t const apart : {1, 2, 4, 8, 16, 17, 32, 1000, 2000, 8000}) {
      double product = 0;
      for (std::size_t i = 0; i + apart < kept.size(); ++i)
        product += (kept[i] - q) * (kept[i + apart] - q);
      CAPTURE(apart);
      CHECK(std::fabs(product / count / variance) < 5 / std::sqrt(count));
    }
  }
}

TEST_CASE("seed and offset draw bytes of their own; the device's state counts") {
  norm_case c{.shape = {.rank = 2, .rows = 5, .width = 1000}};
  c.mask.p = 0.5f;
  auto const all = kept_of(c);
  auto x = c;
  x.mask.on_device = true;
  CHECK(kept_of(x) == all);
  x.mask.seed += 1;
  CHECK(kept_of(x) != all);
  x.mask.seed = c.mask.seed + (std::uint64_t{1} << 40);
  CHECK(kept_of(x) != all);
  x.mask.seed = c.mask.seed, x.mask.offset += 1;
  CHECK(kept_of(x) != all);
  x.mask.offset = c.mask.offset + (std::uint64_t{1} << 40);
  CHECK(kept_of(x) != all);
}

TEST_CASE("what is dropped does not count, not even as NaN") {
  norm_case c{.shape = {}, .residual = true, .store_r = true, .stream = column_type::fp32};
  c.mask.p = 0.5f;
  check_specials(c, &norm_operands::x, {std::nan(""), HUGE_VAL});
}

TEST_CASE("norm with dropout gives the same bits thirty times") {
  std::vector<norm_case> cases;
  std::size_t turn = 0;
  for (std::int64_t const width : {64, 1000, 4096, 8192, 20000}) {
    auto x = begin(turn++);
    x.mask.p = 0.25f;
    x.shape = {.rank = 2, .rows = 3 * be::rt::device().multiprocessors, .width = width};
    cases.push_back(x);
  }
  run_repeats<norm_operands>(cases);
}

// A row's bytes follow from its number: the first rows are alike in smaller problems.
TEST_CASE("rows with dropout do not depend on the other rows") {
  std::size_t turn = 0;
  for (std::int64_t const width : {64, 1000, 4096, 8191, 20000}) {
    auto c = begin(turn++);
    c.mask.on_device = false, c.mask.p = 0.25f;
    c.shape = {.rank = 2, .rows = most_rows(width), .width = width};
    norm_operands large(c);
    compare_small_problems(
        large, c.shape.rows,
        [](auto const& all, std::int64_t first, std::int64_t count, std::int64_t& rows) {
          return first ? std::string() : compare_part(all, first, count, rows);
        });
  }
}

// Rows are counted through all matrices, wherever these lie.
TEST_CASE("rows of several matrices drop what they would in one") {
  for (std::int64_t const width : {100, 1000, 20000}) {
    norm_case c{.shape = {.rank = 2, .rows = 24, .width = width}};
    c.mask.p = 0.5f;
    auto const flat = kept_of(c);
    c.shape = {.rank = 3, .h = 4, .rows = 6, .width = width};
    CHECK(kept_of(c) == flat);
    c.shape = {.rank = 4, .b = 2, .h = 4, .rows = 3, .width = width};
    for (auto const order : {matrix_layout::batches::dense, matrix_layout::batches::interleaved}) {
      c.x_layout = {.batch = order, .parts = 3};
      CHECK(kept_of(c) == flat);
    }
  }
}

}  // namespace
}  // namespace tk::test
