// SPDX-License-Identifier: MIT
// timeout: 600
// What a result does not depend on does not reach it: NaN and infinity in another head, its states,
// its maps and factors, or another sequence (tests/support/faulty_parts.hpp).
#include "tests/ops/hedgehog/backward_part.hpp"
#include "tests/support/faulty_parts.hpp"

namespace tk::test {

// The normaliser of a batch lies as states do.
std::vector<pair_of_operands> all_results(hedgehog_operands& good, hedgehog_operands& bad) {
  auto all = results_of(good, bad);
  if (!packed(good.of)) all.push_back({&good.normaliser, &bad.normaliser, kind::of_states});
  return all;
}
std::vector<pair_of_operands> all_results(hedgehog_gradients& good, hedgehog_gradients& bad) {
  auto all = results_of(good, bad);
  all.push_back({&good.dmap_q, &bad.dmap_q, kind::of_heads});
  all.push_back({&good.dmap_k, &bad.dmap_k, kind::of_heads});
  all.push_back({&good.dalpha, &bad.dalpha, kind::of_heads});
  all.push_back({&good.dbeta, &bad.dbeta, kind::of_heads});
  return all;
}

namespace {

std::vector<hedgehog_case> cases() {
  return {{.b = 2, .n = 200, .h = 3, .states = true},
          {.h = 2, .type = dtype::fp16, .states = true, .lengths = {140, 33, 0, 64}}};
}

TEST_CASE("NaN in one head or sequence stays there") { check_faults<hedgehog_operands>(cases()); }
TEST_CASE("NaN in one head or sequence stays there, of sequences that are cut") {
  hedgehog_case const c{.n = cut_length(), .h = 2, .states = true};
  check_faults<hedgehog_operands>({c});
}
TEST_CASE("NaN in one head or sequence stays there, of steps of decoding") {
  check_faults<hedgehog_operands>({{.b = 2, .n = 128, .h = 3, .past = 127, .states = true},
                                   {.b = 3, .n = 1, .h = 2, .states = true},
                                   {.b = 2, .n = 70, .h = 2, .past = 69}});
}
TEST_CASE("NaN in one head or sequence stays there, of gradients") {
  check_faults<hedgehog_gradients>(cases());
}

}  // namespace
}  // namespace tk::test
