// SPDX-License-Identifier: MIT
// timeout: 600
// activation and its backward thirty times on the same inputs, equal bit for bit, and from many
// threads at once.
#include "tests/ops/activation/activation_backward.hpp"
#include "tests/support/repeats.hpp"
#include "tests/support/row_tables.hpp"

namespace tk::test {
namespace {

// Rows for each class of tiles, two of them with tails, and one longer than any tile.
template <class Case> std::vector<Case> cases() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<Case> all{{.shape = {.rank = 2, .rows = 16 * units + 1, .width = 64}}};
  int turn = 0;
  for (std::int64_t const width : {1000, 2048, 4096, 8192, 20000}) {
    Case x{.shape = {.rank = 3, .h = 2, .rows = 3, .width = width}};
    x.type = ++turn % 3 ? dtype::bf16 : dtype::fp32;
    x.kind = activation_kinds[turn % 6];
    x.gated = turn % 4;
    x.packed = turn % 2;
    all.push_back(x);
    x.type = dtype::bf16, x.interleaved = true;
    all.push_back(x);
  }
  return all;
}
std::vector<activation_case> forwards() {
  auto all = cases<activation_case>();
  all[1].y_place = row_place::on_second;
  all[3].y_place = row_place::on_first;
  return all;
}
std::vector<activation_backward_case> backwards() {
  auto all = cases<activation_backward_case>();
  all[1].da_place = gradient_place::on_a, all[1].db_place = gradient_place::on_b;
  all[2].da_place = gradient_place::on_a;
  all[3].da_place = gradient_place::on_dy;
  return all;
}

template <class Case> Case few_rows(int i) {
  Case x{.shape = {.rank = 2, .rows = 1 + i % 7, .width = 130 + 61 * (i % 40)}};
  x.kind = activation_kinds[i % 6];
  x.gated = i % 5;
  x.interleaved = i % 4 == 1;
  return x;
}

TEST_CASE("activation gives the same bits thirty times") {
  run_repeats<activation_operands>(forwards());
}
TEST_CASE("activation's backward gives the same bits thirty times") {
  run_repeats<activation_backward_operands>(backwards());
}
TEST_CASE("activation and its backward from many threads at once") {
  int const each = test_level() == level::quick ? 3 : 30;
  run_from_threads(each, few_rows<activation_case>);
  run_from_threads(each, few_rows<activation_backward_case>);
}

}  // namespace
}  // namespace tk::test
