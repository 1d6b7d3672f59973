// SPDX-License-Identifier: MIT
// timeout: 600
// The backward in several calls, from the last to the first: each begins with the state that the
// forward had there, and ends with the gradient of the next one's. Together they are right by the
// oracle of the unsplit sequence, gradients of decays as well.
#include "tests/ops/linear_attention/chain.hpp"

namespace tk::test {
namespace {

void check_split(scan_case c, std::vector<std::int64_t> const& lengths) {
  c.states = true;
  c.n = 0;
  for (auto const n : lengths) c.n += n;
  backward_operands whole(c);
  forward_operands forward(c);
  REQUIRE(launch_twice(whole) == "");
  REQUIRE(launch_twice(forward) == "");
  run_in_parts(whole, forward, lengths);
  auto const v = compare(whole);
  CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
}

TEST_CASE("the backward of a sequence in two or three calls") {
  for (auto const decay :
       {decays::none, decays::heads, decays::mild, decays::strong, decays::vanishing}) {
    check_split({.b = 2, .h = 2, .decay = decay}, {64, 66});
    check_split({.h = 2, .d = 128, .dv = 48, .decay = decay}, {1, 100, 63});
    check_split({.d = 256, .dv = 32, .type = dtype::fp16, .decay = decay}, {33, 40});
  }
}
TEST_CASE("the backward token by token") {
  for (auto const decay : {decays::none, decays::heads, decays::mild})
    check_split({.b = 2, .h = 3, .d = 64, .dv = 80, .decay = decay},
                std::vector<std::int64_t>(12, 1));
}
TEST_CASE("a negative scale is divided out of gradients of states, and put back") {
  scan_case c{.h = 2, .decay = decays::mild};
  for (float const scale : {-2.5f, 0x1p-20f, -0x1p20f}) {
    c.scale = scale;
    check_split(c, {70, 20});
  }
}

}  // namespace
}  // namespace tk::test
