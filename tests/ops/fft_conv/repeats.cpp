// SPDX-License-Identifier: MIT
// timeout: 600
// The long convolution and its backward thirty times on the same inputs, equal bit for bit, and
// from many threads at once.
#include "tests/support/repeats.hpp"

#include "tests/ops/fft_conv/oracle.hpp"

namespace tk::test {
namespace {

std::vector<conv_case> long_and_short() {
  std::vector<conv_case> all{{.b = 3, .h = 2, .n = 300, .nk = 300, .share = 2, .pre = true},
                             {.b = 1, .h = 2, .n = 2500, .nk = 2500, .post = true},
                             {.n = 90, .nk = 40, .circular = true, .pre = true, .post = true}};
  all[0].type = dtype::fp16;
  all.push_back({.n = 8193, .nk = 8193});  // filters of several pieces on every chip
  return all;
}
template <class Operands> directed<Operands> few(int i) {
  conv_case x{.b = 1 + i % 2, .h = 1 + i % 3, .n = 5 + 170 * (i % 5), .nk = 5 + 40 * (i % 4)};
  x.circular = i % 2 == 0;
  if (x.circular) x.nk = std::min(x.nk, x.n);
  x.pre = i % 3 == 0;
  return x;
}

TEST_CASE("long convolutions give the same bits thirty times") {
  run_repeats<conv_operands>(long_and_short());
}
TEST_CASE("their gradients give the same bits thirty times") {
  run_repeats<conv_backward_operands>(long_and_short());
}
TEST_CASE("long convolutions from many threads at once") {
  run_from_threads(test_level() == level::quick ? 2 : 20, few<conv_operands>);
  run_from_threads(test_level() == level::quick ? 2 : 20, few<conv_backward_operands>);
}

}  // namespace
}  // namespace tk::test
