// SPDX-License-Identifier: MIT
// timeout: 600
// tk_linear_cross_entropy on tensors that lie in memory in every way the interface allows: slices,
// strides and addresses that no vector load or bulk copy takes, negative and zero strides.
#include "tests/ops/linear_cross_entropy/linear_cross_entropy.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

constexpr layout_of<linear_case> operands[] = {
    &linear_case::x_layout,   &linear_case::w_layout,  &linear_case::labels_layout,
    &linear_case::dx_layout,  &linear_case::dw_layout, &linear_case::loss_layout,
    &linear_case::lse_layout,
};

linear_case begin(std::size_t turn) {
  constexpr std::int64_t vocabs[] = {50, 129, 64, 200};
  linear_case x{.shape = {.rank = 2, .rows = 11, .width = vocabs[turn % 4]}};
  x.d = turn % 3 ? 40 : 33;
  x.type = turn % 2 ? dtype::fp16 : dtype::bf16;
  x.chunk_rows = turn % 5 ? 4 : 0;
  x.store_lse = x.store_dx = x.store_dw = true;
  x.fp32_dx = turn % 7 == 1;
  x.fp32_dw = turn % 7 == 2;
  return x;
}

std::vector<linear_case> layouts() {
  auto all = layout_table(operands, begin);
  if (test_level() == level::quick) {
    std::vector<linear_case> some;
    for (std::size_t i = 0; i < all.size(); i += 5) some.push_back(all[i]);
    return some;
  }
  return all;
}
std::vector<linear_case> shared() {
  std::vector<linear_case> cases;
  add_layouts<linear_case>(cases, std::span(operands).first<3>(),
                           {{.row_stride = 0}, {.row_stride = 1}}, begin);
  return cases;
}

TEST_CASE("linear_cross_entropy with odd layouts") { run_table("layouts", layouts()); }
TEST_CASE("linear_cross_entropy of rows that lie on each other") { run_table("shared", shared()); }

}  // namespace
}  // namespace tk::test
