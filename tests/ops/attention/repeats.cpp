// SPDX-License-Identifier: MIT
// timeout: 600
// attention thirty times on the same inputs, equal bit for bit, and from many threads at once.
#include "tests/ops/attention/oracle.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

std::vector<attention_case> attentions() {
  return {
      {.b = 1, .hq = 4, .hk = 2, .nq = 150, .nk = 170, .d = 64, .dv = 64, .mask = TK_MASK_CAUSAL},
      {.b = 2, .hq = 1, .hk = 1, .nq = 65, .nk = 190, .d = 128, .dv = 128, .type = dtype::fp16},
      {.b = 1, .hq = 1, .hk = 1, .nq = 40, .nk = 200, .d = 200, .dv = 256},
  };
}

attention_case attention(int i) {
  attention_case x{.b = 1, .hq = 2, .hk = 1, .nq = 50 + i % 30, .nk = 90, .d = 64, .dv = 64};
  x.mask = i % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  x.values = scores::select;
  return x;
}

TEST_CASE("attention gives the same bits thirty times") {
  run_repeats<attention_operands>(attentions());
}
TEST_CASE("attention from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, attention);
}

}  // namespace
}  // namespace tk::test
