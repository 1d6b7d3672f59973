// SPDX-License-Identifier: MIT
// timeout: 600
// norm's backward thirty times on the same inputs, equal bit for bit, and from many threads at
// once. Rows of several blocks add to each element of dweight and dbias.
#include "tests/ops/norm/backward_oracle.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

// Rows for each class of tiles, two of them with tails, and one longer than any tile.
std::vector<norm_backward_case> backwards() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<norm_backward_case> all;
  int turn = 0;
  for (std::int64_t const width : {64, 100, 1000, 2048, 4096, 8192, 20000}) {
    norm_backward_case x{.shape = {.rank = 2, .rows = width > 1000 ? 3 * units : 16 * units + 1}};
    x.shape.width = width;
    x.kind = ++turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
    x.type = turn % 3 ? dtype::bf16 : dtype::fp32;
    x.dr = turn % 2;
    x.sums_type = column_type::fp32;
    x.place = static_cast<dx_place>(turn % 4);
    if (x.place == dx_place::on_dr) x.dr = true;
    all.push_back(x);
  }
  for (std::int64_t const width : {4104, 16400}) {
    norm_backward_case x{.shape = {.rank = 2, .rows = 6 * units + 1, .width = width}};
    x.type = dtype::fp32;
    x.weight = false;
    all.push_back(x);
  }
  return all;
}

norm_backward_case few_rows(int i) {
  norm_backward_case x{.shape = {.rank = 2, .rows = 1 + i % 7, .width = 130 + 61 * (i % 40)}};
  x.kind = i % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.dr = i % 3 == 0;
  return x;
}

TEST_CASE("norm's backward gives the same bits thirty times") {
  run_repeats<norm_backward_operands>(backwards());
}
TEST_CASE("norm's backward from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_rows);
}

}  // namespace
}  // namespace tk::test
