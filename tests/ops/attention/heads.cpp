// SPDX-License-Identifier: MIT
// timeout: 600
// tk_attention_forward for every head dimension, d and dv apart and alike, around the sizes of the
// chip's steps, and for heads that share their keys.
#include "ops/attention/tuning.hpp"
#include "tests/ops/attention/oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

// d and dv: each multiple of 8 on its own in full; quick takes those around the compiled sizes.
std::vector<attention_case> dimensions() {
  std::vector<attention_case> cases;
  int turn = 0;
  auto const add = [&](std::int64_t d, std::int64_t dv) {
    bool const full = test_level() != level::quick;
    for (int kind = 0; kind < 4; ++kind) {
      if (!full && kind != turn % 4) continue;
      attention_case x{
          .b = 1, .hq = 2, .hk = 2, .nq = full ? 97 : 70, .nk = full ? 203 : 90, .d = d, .dv = dv};
      x.mask = kind & 1 ? TK_MASK_CAUSAL : TK_MASK_NONE;
      x.type = kind & 2 ? dtype::fp16 : dtype::bf16;
      cases.push_back(x);
      x.values = d >= 64 ? scores::select : scores::flat;
      if (full || turn % 2) cases.push_back(x);
    }
    ++turn;
  };
  if (test_level() == level::quick) {
    for (std::int64_t d : {8, 16, 24, 40, 56, 64, 72, 80, 96, 120, 128, 136, 160, 192, 248, 256})
      add(d, d);
  } else {
    for (std::int64_t d = 8; d <= 256; d += 8) add(d, d);
  }
  for (std::int64_t d : {8, 64, 72, 128, 136, 256})
    for (std::int64_t dv : {8, 40, 64, 128, 192, 256})
      if (d != dv) add(d, dv);
  return cases;
}

// Groups of 1 ... 16 query heads to a key head. What belongs to another head shows in select.
std::vector<attention_case> groups() {
  struct heads {
    std::int64_t b, hq, hk;
  };
  std::vector<attention_case> cases;
  int turn = 0;
  for (heads const& h : {heads{1, 4, 4},
                         {1, 4, 1},
                         {2, 8, 2},
                         {1, 8, 1},
                         {3, 6, 3},
                         {1, 10, 2},
                         {2, 12, 4},
                         {1, 16, 1},
                         {1, 3, 1},
                         {2, 1, 1},
                         {2, 0, 1}})
    for (std::int64_t d : {64, 128, 256})
      for (auto const values : {scores::random, scores::select}) {
        if (test_level() == level::quick && (turn++ + d / 64) % 2) continue;
        attention_case x{.b = h.b, .hq = h.hq, .hk = h.hk, .nq = 66, .nk = 100, .d = d, .dv = d};
        x.mask = turn % 3 ? TK_MASK_CAUSAL : TK_MASK_NONE;
        x.type = turn % 5 < 3 ? dtype::bf16 : dtype::fp16;
        x.values = values;
        cases.push_back(x);
        ++turn;
      }
  return cases;
}

// Beside the chip's own sizes: one query less and one more than a worker has, one key less and one
// more than a step and than two. A step that takes the tail for whole would see a key more.
std::vector<attention_case> around_steps() {
  std::vector<attention_case> cases;
  int turn = 0;
  for (int const d : {64, 96, 128, 192, 256}) {
    auto const tune = be::tune_attention_forward(d);
    for (auto const values : {scores::flat, scores::select})
      for (std::int64_t const nk : {tune.N - 1, tune.N + 1, 2 * tune.N - 1, 2 * tune.N + 1}) {
        if (test_level() == level::quick && values != scores::flat) continue;
        attention_case x{.b = 1, .hq = 1, .hk = 1, .nq = 0, .nk = nk, .d = d, .dv = d};
        x.nq = tune.M + (turn % 2 ? 1 : -1);
        x.type = turn / 2 % 2 ? dtype::fp16 : dtype::bf16;
        x.values = values;
        cases.push_back(x);
        ++turn;
      }
  }
  return cases;
}

TEST_CASE("attention of every head dimension") { run_table("dimensions", dimensions()); }
TEST_CASE("attention around the sizes of steps") { run_table("steps", around_steps()); }
TEST_CASE("attention of grouped heads") { run_table("groups", groups()); }

}  // namespace
}  // namespace tk::test
