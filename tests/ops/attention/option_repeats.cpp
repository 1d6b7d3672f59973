// SPDX-License-Identifier: MIT
// timeout: 600
// attention with options thirty times on the same inputs, equal bit for bit: packed sequences of
// several blocks with dropout, a window with bias and sinks, and the largest head size.
#include "tests/ops/attention/option_cases.hpp"
#include "tests/ops/attention/options_oracle.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

std::vector<option_case> attentions() {
  auto sequences = packed({65, 0, 150, 3}, {130, 20, 170, 140});
  sequences.d = sequences.dv = 128, sequences.type = dtype::fp16;
  sequences.dropout = 0.25f, sequences.random_state = true;
  option_case window{.b = 1, .hq = 4, .hk = 2, .nq = 150, .nk = 300};
  window.left = 150, window.right = 140;
  window.bias = bias_use::same, window.one_bias_head = true, window.sinks = true;
  option_case seen{.b = 2, .hq = 2, .hk = 1, .nq = 90, .nk = 170};
  seen.left = 70, seen.right = 3;
  option_case capped{.b = 1, .hq = 1, .hk = 1, .nq = 70, .nk = 200, .d = 200, .dv = 256};
  capped.mask = TK_MASK_CAUSAL, capped.softcap = 3;
  return {sequences, window, seen, capped};
}

TEST_CASE("attention with options gives the same bits thirty times") {
  run_repeats<option_operands>(attentions());
}

}  // namespace
}  // namespace tk::test
