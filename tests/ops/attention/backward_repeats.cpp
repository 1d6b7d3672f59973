// SPDX-License-Identifier: MIT
// timeout: 600
// attention backward thirty times on the same inputs, equal bit for bit, and from many threads at
// once. Several blocks of keys add to each row of dq.
#include "tests/ops/attention/backward_oracle.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

std::vector<attention_backward_case> backwards() {
  std::vector<attention_case> const forwards = {
      {.b = 1, .hq = 4, .hk = 2, .nq = 150, .nk = 400, .d = 64, .dv = 64, .mask = TK_MASK_CAUSAL},
      {.b = 2, .hq = 1, .hk = 1, .nq = 65, .nk = 390, .d = 128, .dv = 128, .type = dtype::fp16},
      {.b = 1, .hq = 1, .hk = 1, .nq = 140, .nk = 300, .d = 200, .dv = 256},
  };
  std::vector<attention_backward_case> cases;
  for (auto const& x : forwards) cases.push_back({x});
  return cases;
}

attention_backward_case backward(int i) {
  attention_case x{.b = 1, .hq = 2, .hk = 1, .nq = 50 + i % 30, .nk = 150, .d = 64, .dv = 64};
  x.mask = i % 2 ? TK_MASK_CAUSAL : TK_MASK_NONE;
  return {x};
}

TEST_CASE("attention backward gives the same bits thirty times") {
  run_repeats<attention_backward_operands>(backwards());
}
TEST_CASE("attention backward from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, backward);
}

}  // namespace
}  // namespace tk::test
