// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_cross_entropy at the sizes of sizes.txt: three types, with and without each option and output,
// all of them with all; sizes of logits; special values.
#include "tests/ops/cross_entropy/cross_entropy.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 95: types, options, dx (none, stored, scaled, on x), all of them with all; labels'
// types, which are ignored or far, and lse go round.
constexpr int kinds = 96;
cross_entropy_case of_kind(row_shape const& shape, int kind) {
  cross_entropy_case x{.shape = shape};
  x.type = row_types[kind % 3];
  x.smoothing = kind / 3 % 2 ? 0.1f : 0;
  x.z_loss = kind / 6 % 2 ? 0.0625f : 0;
  x.softcap = kind / 12 % 2 ? 3 : 0;
  int const dx = kind / 24 % 4;
  x.store_dx = dx > 0;
  x.dloss_scale = dx > 1 ? -0.375f : 1;
  x.dx_place = dx == 3 ? row_place::on_first : row_place::apart;
  int const turn = static_cast<int>(kind + shape.all_rows() + shape.width);
  x.label_type = turn % 2 ? dtype::int32 : dtype::int64;
  x.ignored = static_cast<ignored_label>(turn / 2 % 3);
  x.outside = static_cast<far_labels>(turn / 6 % 2);
  x.store_lse = turn / 12 % 2;
  x.holes = kind % 3 == 1 && x.smoothing == 0;
  x.size = kind % 5 ? 4 : 0.5;
  return x;
}

// Logits whose rounding exp magnifies, those of which one is all that counts, and equal ones, also
// so large ones that what is lost in one rounding is above the range of exp.
std::vector<cross_entropy_case> large_logits() {
  std::vector<cross_entropy_case> cases;
  for (std::int64_t const width : {17, 193, 1000, 4096, 8192, 20000})
    for (auto const type : row_types)
      for (double const size : {0, 1, 30, 200}) {
        auto x = of_kind({.rank = 2, .rows = 3, .width = width},
                         static_cast<int>(cases.size()) * 29 % kinds);
        x.type = type;
        x.holes = false;
        x.mean = cases.size() % 2 ? 1000 : -1000;
        x.size = size;
        cases.push_back(x);
        if (type == dtype::fp16 || size > 0) continue;
        x.mean *= 1e27;
        x.z_loss = 0;  // of which nothing finite comes
        cases.push_back(x);
      }
  return cases;
}

// Options at the ends of their ranges.
std::vector<cross_entropy_case> large_options() {
  std::vector<cross_entropy_case> cases;
  for (std::int64_t const width : {7, 1000, 8192, 20000})
    for (auto const type : row_types) {
      auto const add = [&](float smoothing, float z_loss, float softcap) {
        cross_entropy_case x{.shape = {.rank = 2, .rows = 5, .width = width}, .type = type};
        x.store_dx = x.store_lse = true;
        x.smoothing = smoothing, x.z_loss = z_loss, x.softcap = softcap;
        cases.push_back(x);
      };
      add(1 - 0x1p-24f, 0, 0);
      add(0, 100, 0);
      add(0x1p-20f, 0, 0x1p64f);
      add(0, 0, 0x1p-64f);
      add(0.5f, 1, 1);
      add(0, 0, 50);
    }
  return cases;
}

// Of row 2; of row 3, which is ignored, nothing comes but into its lse.
TEST_CASE("NaN and infinity stay in their row") {
  for (float const softcap : {0.f, 30.f}) {
    cross_entropy_case c{.shape = {}, .type = dtype::fp32, .ignored = ignored_label::minus_100};
    c.softcap = softcap;
    c.store_lse = c.store_dx = true;
    check_specials(c, &cross_entropy_operands::x, {std::nan(""), HUGE_VAL, -HUGE_VAL});
    check_specials(c, &cross_entropy_operands::x, {std::nan(""), HUGE_VAL}, 3);
    c.dx_place = row_place::on_first;
    check_specials(c, &cross_entropy_operands::x, {std::nan(""), HUGE_VAL, -HUGE_VAL});
  }
}
TEST_CASE("a logit that is all that counts") {
  cross_entropy_case c{.shape = {}, .type = dtype::fp32, .store_lse = true, .store_dx = true};
  check_specials(c, &cross_entropy_operands::x, {1e6, 0x1p29, -0x1p29});
  c.store_dx = false;  // for which there is no bound above
  check_specials(c, &cross_entropy_operands::x, {1e30, 0x1.8p126, -0x1.8p126});
}

TEST_CASE("cross_entropy at every size") {
  run_table("sizes", size_table("cross_entropy", kinds, of_kind));
}
TEST_CASE("cross_entropy of large logits") { run_table("large logits", large_logits()); }
TEST_CASE("cross_entropy with options at their ends") {
  run_table("large options", large_options());
}
TEST_CASE("cross_entropy of many short rows") { run_table("tails", tail_table(kinds, of_kind)); }

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("cross_entropy", kinds, of_kind);
  std::set<int> seen, labels;
  for (auto const& x : cases) {
    seen.insert(static_cast<int>(x.type) + 3 * (x.smoothing > 0) + 6 * (x.z_loss > 0) +
                12 * (x.softcap > 0) + 24 * x.store_dx + 48 * (x.dloss_scale < 0) +
                96 * (x.dx_place == row_place::on_first));
    labels.insert(static_cast<int>(x.ignored) + 3 * static_cast<int>(x.outside) +
                  6 * (x.label_type == dtype::int32) + 12 * x.store_lse);
  }
  CHECK(seen.size() == kinds);
  CHECK(labels.size() == 24);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
