// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_linear_cross_entropy at the sizes of sizes.txt: both types, with and without each option and
// gradient, in one chunk and in several; special values.
#include "tests/ops/linear_cross_entropy/linear_cross_entropy.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 47: types, which gradients, their types, options; chunks and labels go round.
constexpr int kinds = 48;
linear_case of_kind(std::int64_t rows, std::int64_t d, std::int64_t vocab, int kind) {
  linear_case x{.shape = {.rank = 2, .rows = rows, .width = vocab}, .d = d};
  x.type = kind % 2 ? dtype::fp16 : dtype::bf16;
  x.store_dx = kind / 2 % 2;
  x.store_dw = kind / 4 % 2;
  x.fp32_dx = x.fp32_dw = kind / 8 % 2;
  x.smoothing = kind / 16 == 1 ? 0.1f : 0;
  x.z_loss = kind / 16 == 1 ? 0.01f : 0;
  x.softcap = kind / 16 == 2 ? 3 : 0;
  auto const turn = kind + rows + vocab;
  x.store_lse = turn % 2;
  x.label_type = turn % 3 ? dtype::int64 : dtype::int32;
  x.ignored = static_cast<ignored_label>(turn % 3);
  x.outside = !x.store_dw && turn % 5 == 0 ? far_labels::some : far_labels::none;
  x.dloss_scale = turn % 4 ? 1 : -0.125f;
  std::int64_t const chunks[] = {0, 1, 7, 64, rows / 2, rows + 5};
  x.chunk_rows = rows < 50 || turn % 6 != 1 ? chunks[turn % 6] : 33;
  return x;
}

std::vector<linear_case> sizes() {
  std::vector<linear_case> cases;
  int turn = 0;
  for (auto const& line : read_sizes("linear_cross_entropy")) {
    bool const small = line.number("rows") * line.number("vocab") * line.number("d") < 1 << 20;
    int const every = small ? (test_level() == level::quick ? 5 : 1) : 13;
    for (int kind = turn++ % every; kind < kinds; kind += every)
      cases.push_back(of_kind(line.number("rows"), line.number("d"), line.number("vocab"), kind));
  }
  return cases;
}

TEST_CASE("linear_cross_entropy at every size") { run_table("sizes", sizes()); }

// A row of x with NaN is NaN everywhere; others lose nothing but what they share, dw.
TEST_CASE("NaN stays in its row") {
  for (double const special : {std::nan(""), HUGE_VAL}) {
    linear_case c{.shape = {.rank = 2, .rows = 9, .width = 200}, .chunk_rows = 4};
    c.store_dx = true;
    linear_operands x(c), without(c);
    set(x.x, 5, 7, special);
    REQUIRE(launch_twice(x) == "");
    REQUIRE(launch_twice(without) == "");
    CHECK(std::isnan(result_at(x.loss, 5, 0)));
    for (std::int64_t i = 0; i < c.d; ++i) CHECK(std::isnan(result_at(x.dx, 5, i)));
    for (std::int64_t row = 0; row < 9; ++row) {
      if (row == 5) continue;
      CHECK(result_at(x.loss, row, 0) == result_at(without.loss, row, 0));
      for (std::int64_t i = 0; i < c.d; ++i)
        CHECK(result_at(x.dx, row, i) == result_at(without.dx, row, i));
    }
  }
}

// Three chunks, of which the second has nothing but ignored rows.
constexpr std::int64_t ignored_here[] = {1, 3, 4, 5, 8};
bool is_ignored_here(std::int64_t row) {
  return std::find(std::begin(ignored_here), std::end(ignored_here), row) != std::end(ignored_here);
}
linear_case with_ignored(int turn) {
  linear_case c{.shape = {.rank = 2, .rows = 9, .width = 200}, .d = turn % 3 ? 64 : 33};
  c.chunk_rows = turn % 5 == 4 ? 0 : 3;
  c.type = turn % 2 ? dtype::fp16 : dtype::bf16;
  c.label_type = turn % 4 < 2 ? dtype::int64 : dtype::int32;
  c.ignored = turn % 3 ? ignored_label::minus_100 : ignored_label::column_3;
  c.store_lse = c.store_dx = c.store_dw = true;
  c.fp32_dx = turn / 2 % 2;
  c.fp32_dw = turn / 3 % 2;
  if (turn % 4 == 3) c.x_layout = c.dx_layout = {.padding = 3, .misalignment = 1, .reversed = true};
  return c;
}
void put_labels(linear_operands& x) {
  for (std::int64_t row = 0; row < 9; ++row)
    set(x.labels, row, 0,
        static_cast<double>(is_ignored_here(row) ? ignore_index(x.of) : 20 + row));
}
bool is_zero(tensor const& t, std::int64_t row) {
  for (std::int64_t i = 0; i < t.cols(); ++i)
    if (result_at(t, row, i) != 0) return false;
  return true;
}
bool is_nan(tensor const& t, std::int64_t row) {
  for (std::int64_t i = 0; i < t.cols(); ++i)
    if (!std::isnan(result_at(t, row, i))) return false;
  return true;
}

// Not even as NaN: all is as if ignored rows of x were 0.
TEST_CASE("nothing of an ignored row of x is in loss, dx and dw") {
  for (int turn = 0; turn < 12; ++turn) {
    auto const c = with_ignored(turn);
    linear_operands x(c), without(c);
    put_labels(x), put_labels(without);
    double const specials[] = {std::nan(""), HUGE_VAL, -HUGE_VAL};
    for (auto const row : ignored_here)
      for (std::int64_t i = 0; i < c.d; ++i) {
        if (i % 3 == row % 3) set(x.x, row, i, specials[(row + turn + i / 3) % 3]);
        set(without.x, row, i, 0);
      }
    CAPTURE(describe(c));
    REQUIRE(launch_twice(x) == "");
    REQUIRE(launch_twice(without) == "");
    CHECK(compare(without).wrong == "");
    for (std::int64_t row = 0; row < 9; ++row) {
      CHECK(result_at(x.loss, row, 0) == result_at(without.loss, row, 0));
      for (std::int64_t i = 0; i < c.d; ++i)
        CHECK(result_at(x.dx, row, i) == result_at(without.dx, row, i));
    }
    for (std::int64_t v = 0; v < c.shape.width; ++v)
      for (std::int64_t i = 0; i < c.d; ++i)
        CHECK(result_at(x.dw, v, i) == result_at(without.dw, v, i));
    CHECK(check_untouched(x.memories, std::vector{x.loss, x.lse, x.dx, x.dw}) == "");
  }
}

TEST_CASE("NaN in w does not reach dx of ignored rows") {
  for (int turn = 0; turn < 12; ++turn)
    for (bool const all : {false, true}) {
      auto const c = with_ignored(turn);
      linear_operands x(c);
      put_labels(x);
      if (all)
        for (std::int64_t row = 0; row < 9; ++row)
          set(x.labels, row, 0, static_cast<double>(ignore_index(c)));
      set(x.w, 70, 5, turn % 2 ? std::nan("") : HUGE_VAL);
      set(x.w, 199, 0, std::nan(""));
      CAPTURE(describe(c));
      REQUIRE(launch_twice(x) == "");
      for (std::int64_t row = 0; row < 9; ++row) {
        bool const none = all || is_ignored_here(row);
        CHECK(std::isnan(result_at(x.loss, row, 0)) == !none);
        CHECK((none ? is_zero(x.dx, row) : is_nan(x.dx, row)));
      }
      for (std::int64_t v = 0; v < c.shape.width; ++v)
        CHECK((all ? is_zero(x.dw, v) : is_nan(x.dw, v)));
    }
}

TEST_CASE("a label that is no column is NaN in its row, and in all of dw") {
  for (int turn = 0; turn < 12; ++turn) {
    auto const c = with_ignored(turn);
    linear_operands x(c), without(c);
    put_labels(x), put_labels(without);
    set(x.labels, 6, 0, turn % 2 ? -1. : static_cast<double>(c.shape.width));
    CAPTURE(describe(c));
    REQUIRE(launch_twice(x) == "");
    REQUIRE(launch_twice(without) == "");
    CHECK(std::isnan(result_at(x.loss, 6, 0)));
    CHECK(is_nan(x.dx, 6));
    for (std::int64_t row = 0; row < 9; ++row) {
      CHECK(result_at(x.lse, row, 0) == result_at(without.lse, row, 0));
      if (row == 6) continue;
      CHECK(result_at(x.loss, row, 0) == result_at(without.loss, row, 0));
      for (std::int64_t i = 0; i < c.d; ++i)
        CHECK(result_at(x.dx, row, i) == result_at(without.dx, row, i));
    }
    for (std::int64_t v = 0; v < c.shape.width; ++v) CHECK(is_nan(x.dw, v));
  }
}

// A row of x and of w alone make the logit, of 8 products: 65504 is the largest number of fp16, and
// from 65520 on numbers round to infinity.
TEST_CASE("a logit of fp16 beyond 65504 is infinite") {
  for (double const logit : {65504., 65512., 65520., 70000., -65504., -65520., -1e6}) {
    linear_case c{.shape = {.rank = 2, .rows = 5, .width = 100}, .type = dtype::fp16};
    c.store_lse = c.store_dx = true;
    linear_operands x(c);
    for (std::int64_t row = 0; row < 5; ++row) set(x.labels, row, 0, 10.);
    for (std::int64_t i = 0; i < c.d; ++i) {
      set(x.x, 2, i, i < 8 ? 512 : 0);
      set(x.w, 60, i, 0);
      for (std::int64_t v = 0; v < 100; ++v)
        if (v != 60 && i < 8) set(x.w, v, i, 0);
    }
    for (std::int64_t i = 0; i < 8; ++i) set(x.w, 60, i, logit / 4096);
    REQUIRE(launch_twice(x) == "");
    CAPTURE(logit);
    double const lse = result_at(x.lse, 2, 0), loss = result_at(x.loss, 2, 0);
    if (logit >= 65520) {
      CHECK(std::isnan(loss));
      CHECK(is_nan(x.dx, 2));
    } else if (logit > 0) {
      CHECK(lse == 65504);
      CHECK(loss == 65504);  // the label's logit is 0
      for (std::int64_t i = 0; i < c.d; ++i) CHECK(std::isfinite(result_at(x.dx, 2, i)));
    } else {  // no weight, as that of any small logit: 99 are 0
      CHECK(std::fabs(lse - std::log(99.)) < 1e-5);
      CHECK(std::fabs(loss - std::log(99.)) < 1e-5);
      for (std::int64_t i = 0; i < c.d; ++i) CHECK(std::isfinite(result_at(x.dx, 2, i)));
    }
  }
}

TEST_CASE("the table of sizes holds every kind, and chunks of all sorts") {
  std::set<int> seen, chunks;
  for (auto const& x : sizes()) {
    seen.insert((x.type == dtype::fp16) + 2 * x.store_dx + 4 * x.store_dw + 8 * x.fp32_dx +
                16 * (x.smoothing > 0) + 32 * (x.softcap > 0));
    auto const rows = x.shape.rows;
    chunks.insert(x.chunk_rows == 0 ? 0 : x.chunk_rows >= rows ? 1 : rows % x.chunk_rows ? 2 : 3);
  }
  CHECK(seen.size() == kinds);
  CHECK(chunks.size() == 4);
}

}  // namespace
}  // namespace tk::test
