// SPDX-License-Identifier: MIT
// timeout: 600
// cross_entropy_backward thirty times on the same inputs, equal bit for bit, and from many threads
// at once.
#include "tests/ops/cross_entropy/cross_entropy_backward.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Rows for each class of tiles, two of them with tails, and one longer than any tile.
std::vector<cross_entropy_backward_case> many_rows() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<cross_entropy_backward_case> all{
      {.shape = {.rank = 2, .rows = 16 * units + 1, .width = 64}}};
  int turn = 0;
  for (std::int64_t const width : {1000, 2048, 4096, 8192, 20000, 50257}) {
    cross_entropy_backward_case x{.shape = {.rank = 3, .h = 2, .rows = 3, .width = width}};
    x.type = ++turn % 3 ? dtype::bf16 : dtype::fp32;
    x.smoothing = turn % 2 ? 0.1f : 0;
    x.z_loss = turn % 3 ? 0.01f : 0;
    x.softcap = turn % 4 ? 0 : 3;
    x.ignored = static_cast<ignored_label>(turn % 3);
    x.dx_place = turn % 2 ? row_place::on_first : row_place::apart;
    all.push_back(x);
  }
  for (std::int64_t const width : {4104, 16400}) {
    cross_entropy_backward_case x{.shape = {.rank = 2, .rows = 16 * units, .width = width}};
    x.type = dtype::fp32;
    all.push_back(x);
  }
  return all;
}

cross_entropy_backward_case few_rows(int i) {
  cross_entropy_backward_case x{
      .shape = {.rank = 2, .rows = 1 + i % 7, .width = 130 + 61 * (i % 40)}};
  x.smoothing = i % 3 ? 0.1f : 0;
  x.ignored = static_cast<ignored_label>(i % 3);
  x.outside = static_cast<far_labels>(i % 2);
  return x;
}

TEST_CASE("cross_entropy's backward gives the same bits thirty times") {
  run_repeats<cross_entropy_backward_operands>(many_rows());
}
TEST_CASE("cross_entropy's backward from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_rows);
}

}  // namespace
}  // namespace tk::test
