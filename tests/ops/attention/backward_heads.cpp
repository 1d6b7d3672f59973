// SPDX-License-Identifier: MIT
// timeout: 600
// tk_attention_backward for every head dimension, d and dv apart and alike, and for heads that
// share their keys, whose gradients are sums.
#include "tests/ops/attention/backward_oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

// d and dv: each multiple of 8 on its own in full; quick takes those around the compiled sizes.
std::vector<attention_backward_case> dimensions() {
  std::vector<attention_backward_case> cases;
  int turn = 0;
  bool const full = test_level() != level::quick;
  auto const add = [&](std::int64_t d, std::int64_t dv) {
    attention_case x{
        .b = 1, .hq = 2, .hk = 2, .nq = full ? 97 : 70, .nk = full ? 203 : 90, .d = d, .dv = dv};
    for (int kind = 0; kind < 4; ++kind) {
      if (kind != turn % 4 && (!full || d != dv)) continue;
      x.mask = kind & 1 ? TK_MASK_CAUSAL : TK_MASK_NONE;
      x.type = kind & 2 ? dtype::fp16 : dtype::bf16;
      cases.push_back({x});
    }
    ++turn;
  };
  if (full)
    for (std::int64_t d = 8; d <= 256; d += 8) add(d, d);
  else
    for (std::int64_t d : {8, 24, 64, 72, 120, 128, 136, 200, 256}) add(d, d);
  for (std::int64_t d : {8, 64, 72, 128, 136, 256})
    for (std::int64_t dv : {8, 40, 64, 128, 192, 256})
      if (d != dv && (full || (d + dv) % 3 == 0)) add(d, dv);
  return cases;
}

// Groups of 1 ... 16 query heads to a key head.
std::vector<attention_backward_case> groups() {
  struct heads {
    std::int64_t b, hq, hk;
  };
  std::vector<attention_backward_case> cases;
  int turn = 0;
  for (heads const& h : {heads{1, 4, 4},
                         {1, 4, 1},
                         {2, 8, 2},
                         {3, 6, 3},
                         {1, 10, 2},
                         {1, 16, 1},
                         {1, 3, 1},
                         {2, 1, 1},
                         {2, 0, 1}})
    for (std::int64_t d : {64, 128, 256}) {
      if (test_level() == level::quick && (turn++ + d / 64) % 2) continue;
      attention_case x{.b = h.b, .hq = h.hq, .hk = h.hk, .nq = 66, .nk = 140, .d = d, .dv = d};
      x.mask = turn % 3 ? TK_MASK_CAUSAL : TK_MASK_NONE;
      x.type = turn % 5 < 3 ? dtype::bf16 : dtype::fp16;
      if (turn % 4 == 3) x.values = scores::select;
      cases.push_back({x});
      ++turn;
    }
  return cases;
}

TEST_CASE("attention backward of every head dimension") {
  run_table("backward_dimensions", dimensions());
}
TEST_CASE("attention backward of grouped heads") { run_table("backward_groups", groups()); }

}  // namespace
}  // namespace tk::test
