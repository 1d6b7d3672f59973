// SPDX-License-Identifier: MIT
// timeout: 600
// attention backward with options thirty times on the same inputs, equal bit for bit. Several
// blocks of keys add to each row of dq, several heads to a bias's gradient, and a block has the
// sinks of several heads.
#include "tests/ops/attention/backward_options_oracle.hpp"
#include "tests/ops/attention/option_cases.hpp"
#include "tests/support/repeats.hpp"

namespace tk::test {
namespace {

std::vector<backward_option_case> backwards() {
  option_case window{.b = 1, .hq = 4, .hk = 2, .nq = 80, .nk = 300, .d = 64, .dv = 64};
  window.left = 150, window.right = 140;
  window.bias = bias_use::same, window.one_bias_head = true, window.sinks = true;
  auto sequences = packed({65, 0, 70, 3}, {270, 20, 130, 140});
  sequences.d = sequences.dv = 128, sequences.type = dtype::fp16, sequences.dropout = 0.25f;
  auto causal = packed({70}, {260});
  causal.d = 200, causal.dv = 256, causal.mask = TK_MASK_CAUSAL, causal.softcap = 3;
  option_case heads{.b = 2, .hq = 12, .hk = 6, .nq = 20, .nk = 24};
  heads.sinks = true;
  return {{window}, {sequences}, {causal}, {heads}};
}

TEST_CASE("attention backward with options gives the same bits thirty times") {
  run_repeats<backward_option_operands>(backwards());
}

}  // namespace
}  // namespace tk::test
