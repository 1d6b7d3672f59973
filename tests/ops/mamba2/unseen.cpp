// SPDX-License-Identifier: MIT
// timeout: 600
// What a result does not depend on does not reach it: NaN and infinity in another head, its state
// and its numbers, another group or another sequence (tests/support/faulty_parts.hpp). Heads of a
// group share B and C, and what these get.
#include "tests/ops/mamba2/part.hpp"
#include "tests/support/faulty_parts.hpp"

namespace tk::test {

std::vector<pair_of_operands> all_results(mamba2_operands& good, mamba2_operands& bad) {
  return results_of(good, bad);
}
std::vector<pair_of_operands> all_results(mamba2_backward_operands& good,
                                          mamba2_backward_operands& bad) {
  auto all = results_of(good, bad);
  all.push_back({&good.dA, &bad.dA, kind::of_heads});
  all.push_back({&good.dD, &bad.dD, kind::of_heads});
  all.push_back({&good.ddt_bias, &bad.ddt_bias, kind::of_heads});
  return all;
}

namespace {

// The last but one has more heads than a task of the backward, and the last is cut.
std::vector<mamba2_case> cases() {
  std::vector<mamba2_case> all{
      {.b = 2, .n = 130, .h = 6, .g = 2, .skip = skips::heads, .gate = true, .softplus = true},
      {.h = 2, .p = 48, .s = 32, .type = dtype::fp16, .lengths = {70, 33, 0, 64}},
      {.b = 2, .n = 20, .h = 34, .p = 16, .s = 16, .skip = skips::heads},
      {.b = 1, .n = cut_length(), .h = 2, .p = 16, .s = 16, .skip = skips::columns}};
  all[1].skip = skips::columns, all[1].dt_type = dtype::fp16;
  all[0].states = all[1].states = all[3].states = all[0].bias = true;
  return all;
}

TEST_CASE("NaN in one head, group or sequence stays there") {
  check_faults<mamba2_operands>(cases());
}
TEST_CASE("NaN in one head, group or sequence stays there, of steps of decoding") {
  check_faults<mamba2_operands>({{.b = 3,
                                  .n = 1,
                                  .h = 4,
                                  .g = 2,
                                  .p = 80,
                                  .s = 48,
                                  .skip = skips::heads,
                                  .gate = true,
                                  .bias = true,
                                  .states = true}});
}
TEST_CASE("NaN in one head, group or sequence stays there, of gradients") {
  check_faults<mamba2_backward_operands>(cases());
}

}  // namespace
}  // namespace tk::test
