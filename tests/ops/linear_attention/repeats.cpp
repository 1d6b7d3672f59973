// SPDX-License-Identifier: MIT
// timeout: 600
// Linear attention and its backward thirty times on the same inputs, equal bit for bit, and from
// many threads at once.
#include "tests/support/repeats.hpp"

#include "tests/ops/linear_attention/oracle.hpp"

namespace tk::test {
namespace {

// Walked and cut, with every kind of decay, packed.
std::vector<scan_case> many_tokens() {
  std::vector<scan_case> all{{.n = 130, .h = 2, .decay = decays::mild, .states = true},
                             {.n = 70, .d = 128, .dv = 128, .decay = decays::heads, .states = true},
                             {.n = 33, .d = 256, .dv = 64, .decay = decays::strong},
                             {.d = 16, .dv = 32, .states = true, .lengths = {33, 0, 1, 77}},
                             {.n = cut_length(), .d = 16, .dv = 16, .decay = decays::mild}};
  all[1].type = dtype::fp16;
  return all;
}
template <class Operands> directed<Operands> few_tokens(int i) {
  scan_case x{.b = 1 + i % 2, .n = 5 + 17 * (i % 5), .h = 1 + i % 3};
  x.d = 16 * (1 + i % 9), x.dv = 16 * (1 + i % 4);
  x.decay = static_cast<decays>(i % 5);
  x.states = i % 2 == 0;
  return x;
}

TEST_CASE("linear attention gives the same bits thirty times") {
  run_repeats<forward_operands>(many_tokens());
}
TEST_CASE("linear attention's backward gives the same bits thirty times") {
  run_repeats<backward_operands>(many_tokens());
}
TEST_CASE("linear attention from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens<forward_operands>);
}
TEST_CASE("linear attention's backward from many threads at once") {
  run_from_threads(test_level() == level::quick ? 3 : 30, few_tokens<backward_operands>);
}

}  // namespace
}  // namespace tk::test
