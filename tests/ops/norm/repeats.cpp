// SPDX-License-Identifier: MIT
// timeout: 600
// norm thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/norm/norm.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

// Rows for each class of tiles, two of them with tails, and one longer than any tile.
std::vector<norm_case> norms() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<norm_case> all{{.shape = {.rank = 2, .rows = 16 * units + 1, .width = 64}}};
  int turn = 0;
  for (std::int64_t const width : {1000, 2048, 4096, 8192, 20000}) {
    norm_case x{.shape = {.rank = 2, .rows = 3, .width = width}};
    x.kind = ++turn % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
    x.type = turn % 3 ? dtype::bf16 : dtype::fp32;
    x.residual = x.store_r = turn % 2;
    x.y_place = turn % 2 ? row_place::on_second : row_place::on_first;
    all.push_back(x);
  }
  // RMSNorm has one sum a row: blocks begin a task after an odd number of sums, one buffer of which
  // is still read.
  for (std::int64_t const width : {4104, 16400}) {
    norm_case x{.shape = {.rank = 2, .rows = 16 * units, .width = width}, .kind = TK_NORM_RMS};
    x.type = dtype::fp32;
    x.weight = x.bias = false;
    all.push_back(x);
  }
  // Many matrices, whose rows lie between those of others.
  norm_case packed{.shape = {.rank = 4, .b = 2, .h = 4 * units, .rows = 3, .width = 136}};
  packed.x_layout = {.batch = matrix_layout::batches::interleaved, .parts = 3};
  all.push_back(packed);
  return all;
}

norm_case few_rows(int i) {
  norm_case x{.shape = {.rank = 2, .rows = 1 + i % 7, .width = 130 + 61 * (i % 40)}};
  x.kind = i % 2 ? TK_NORM_RMS : TK_NORM_LAYER;
  x.residual = i % 3 == 0;
  return x;
}

TEST_CASE("norm gives the same bits thirty times") { run_repeats<norm_operands>(norms()); }
TEST_CASE("norm from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_rows);
}

}  // namespace
}  // namespace tk::test
