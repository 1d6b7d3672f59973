// SPDX-License-Identifier: MIT
// timeout: 600
// softmax thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/softmax/softmax.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

// Rows for each class of tiles, two of them with tails, and one longer than any tile.
std::vector<softmax_case> softmaxes() {
  std::int64_t const units = be::rt::device().multiprocessors;
  std::vector<softmax_case> all{{.shape = {.rank = 2, .rows = 16 * units + 1, .width = 64}}};
  int turn = 0;
  for (std::int64_t const width : {1000, 2048, 4096, 8192, 20000}) {
    softmax_case x{.shape = {.rank = 3, .h = 2, .rows = 3, .width = width}};
    x.type = ++turn % 3 ? dtype::bf16 : dtype::fp32;
    x.mask = turn % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
    x.bias = static_cast<bias_use>(turn % 3);
    x.broadcast = turn;
    x.bool_mask = turn % 4 < 2 ? bool_mask_use::boolean : bool_mask_use::none;
    x.mask_broadcast = turn / 2;
    x.y_place = turn % 2 ? row_place::on_first : row_place::apart;
    all.push_back(x);
  }
  for (std::int64_t const width : {4104, 16400}) {
    softmax_case x{.shape = {.rank = 2, .rows = 16 * units, .width = width}};
    x.type = dtype::fp32;
    all.push_back(x);
    x.bool_mask = bool_mask_use::uint8;
    all.push_back(x);
  }
  return all;
}

softmax_case few_rows(int i) {
  softmax_case x{.shape = {.rank = 2, .rows = 1 + i % 7, .width = 130 + 61 * (i % 40)}};
  x.bias = i % 3 == 0 ? bias_use::same_type : bias_use::none;
  x.mask = i % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.bool_mask = i % 5 < 2 ? bool_mask_use::boolean : bool_mask_use::none;
  return x;
}

TEST_CASE("softmax gives the same bits thirty times") {
  run_repeats<softmax_operands>(softmaxes());
}
TEST_CASE("softmax from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_rows);
}

}  // namespace
}  // namespace tk::test
