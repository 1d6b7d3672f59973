// SPDX-License-Identifier: MIT
// timeout: 600
// lock: memory
// tk_softmax_backward at the sizes of sizes.txt: three types, with and without mask and dbias;
// scales and sizes of gradients; special values.
#include "tests/ops/softmax/softmax_backward.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Kind 0 ... 47: types, masks, dbias or none, scales, all of them.
constexpr int kinds = 48;
softmax_backward_case of_kind(row_shape const& shape, int kind) {
  constexpr float scales[] = {1, 0.125f, -2, 0};
  softmax_backward_case x{.shape = shape};
  x.type = row_types[kind % 3];
  x.mask = kind / 3 % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.store_dbias = kind / 6 % 2;
  x.scale = scales[kind / 12];
  x.size = kind % 5 ? 1 : 16;
  return x;
}

// Gradients whose mean is most of them.
std::vector<softmax_backward_case> large_means() {
  std::vector<softmax_backward_case> cases;
  for (std::int64_t const width : {17, 193, 1000, 4096, 8192, 20000})
    for (auto const type : row_types)
      for (bool const store_dbias : {false, true}) {
        softmax_backward_case x{.shape = {.rank = 2, .rows = 3, .width = width}};
        x.type = type;
        x.store_dbias = store_dbias;
        x.mean = cases.size() % 2 ? 100 : -100;
        cases.push_back(x);
      }
  return cases;
}

TEST_CASE("NaN and infinity stay in their row") {
  for (auto const mask : {TK_MASK_NONE, TK_MASK_CAUSAL}) {
    softmax_backward_case c{.shape = {}, .mask = mask, .store_dbias = true};
    for (auto const input : {&softmax_backward_operands::y, &softmax_backward_operands::dy})
      check_specials(c, input, {std::nan(""), HUGE_VAL, -HUGE_VAL});
  }
}

TEST_CASE("softmax's backward at every size") {
  run_table("backward_sizes", size_table("softmax", kinds, of_kind));
}
TEST_CASE("softmax's backward of large means") { run_table("backward_large_means", large_means()); }
TEST_CASE("softmax's backward of many short rows") {
  run_table("backward_tails", tail_table(kinds, of_kind));
}

TEST_CASE("the table of sizes holds every kind, rank and tail") {
  auto const cases = size_table("softmax", kinds, of_kind);
  std::set<int> seen;
  for (auto const& x : cases)
    seen.insert(static_cast<int>(x.type) + 3 * (x.mask == TK_MASK_CAUSAL) + 6 * x.store_dbias +
                12 * static_cast<int>(8 * x.scale));
  CHECK(seen.size() == kinds);
  CHECK(widths_without_case(cases).empty());
  CHECK(has_many_rows(cases));
  CHECK(ranks_of(cases) == std::set{1, 2, 3, 4});
}

}  // namespace
}  // namespace tk::test
