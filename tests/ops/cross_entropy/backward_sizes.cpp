// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_cross_entropy_backward at the sizes of sizes.txt: three types, with and without each option,
// all of them with all; sizes of logits; special values.
#include "tests/ops/cross_entropy/cross_entropy_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 47: types, options, dx apart or on x, all of them with all; labels' types, and which
// are ignored or far, go round.
constexpr int kinds = 48;
cross_entropy_backward_case of_kind(row_shape const& shape, int kind) {
  cross_entropy_backward_case x{.shape = shape};
  x.type = row_types[kind % 3];
  x.smoothing = kind / 3 % 2 ? 0.1f : 0;
  x.z_loss = kind / 6 % 2 ? 0.0625f : 0;
  x.softcap = kind / 12 % 2 ? 3 : 0;
  x.dx_place = kind / 24 % 2 ? row_place::on_first : row_place::apart;
  int const turn = static_cast<int>(kind + shape.all_rows() + shape.width);
  x.label_type = turn % 2 ? dtype::int32 : dtype::int64;
  x.ignored = static_cast<ignored_label>(turn / 2 % 3);
  x.outside = static_cast<far_labels>(turn / 6 % 2);
  x.size = kind % 5 ? 4 : 0.5;
  return x;
}

std::vector<cross_entropy_backward_case> large_logits() {
  std::vector<cross_entropy_backward_case> cases;
  for (std::int64_t const width : {17, 193, 1000, 4096, 8192, 20000})
    for (auto const type : row_types)
      for (double const size : {0, 1, 30, 200}) {
        auto x = of_kind({.rank = 2, .rows = 3, .width = width},
                         static_cast<int>(cases.size()) * 29 % kinds);
        x.type = type;
        x.mean = cases.size() % 2 ? 1000 : -1000;
        x.size = size;
        cases.push_back(x);
      }
  return cases;
}

// Of row 2; of row 3, which is ignored, nothing comes.
TEST_CASE("NaN and infinity stay in their row") {
  for (float const softcap : {0.f, 30.f}) {
    cross_entropy_backward_case c{.shape = {}, .type = dtype::fp32};
    c.ignored = ignored_label::minus_100;
    c.softcap = softcap;
    for (std::int64_t const row : {2, 3})
      check_specials(c, &cross_entropy_backward_operands::x, {std::nan(""), HUGE_VAL, -HUGE_VAL},
                     row);
    for (std::int64_t const width : {5, 1000, 8192, 20000})
      for (std::int64_t const row : {2, 3}) {
        c.shape = {.rank = 2, .rows = 5, .width = width};
        check_special(c, &cross_entropy_backward_operands::lse, std::nan(""), row, 0);
        for (double const special : {std::nan(""), HUGE_VAL, -HUGE_VAL})
          check_special(c, &cross_entropy_backward_operands::dloss, special, row, 0);
      }
  }
}

TEST_CASE("cross_entropy's backward at every size") {
  run_table("backward_sizes", size_table("cross_entropy", kinds, of_kind));
}
TEST_CASE("cross_entropy's backward of large logits") {
  run_table("backward_large_logits", large_logits());
}
TEST_CASE("cross_entropy's backward of many short rows") {
  run_table("backward_tails", tail_table(kinds, of_kind));
}

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("cross_entropy", kinds, of_kind);
  std::set<int> seen, labels;
  for (auto const& x : cases) {
    seen.insert(static_cast<int>(x.type) + 3 * (x.smoothing > 0) + 6 * (x.z_loss > 0) +
                12 * (x.softcap > 0) + 24 * (x.dx_place == row_place::on_first));
    labels.insert(static_cast<int>(x.ignored) + 3 * static_cast<int>(x.outside) +
                  6 * (x.label_type == dtype::int32));
  }
  CHECK(seen.size() == kinds);
  CHECK(labels.size() == 12);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
