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
