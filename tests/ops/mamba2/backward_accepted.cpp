// SPDX-License-Identifier: MIT
// What must not be refused: no tokens, empty tensors without data, all types and forms, as many
// blocks as can be counted.
#include "tests/ops/mamba2/accepted_cases.hpp"
#include "tests/ops/mamba2/backward_scene.hpp"

namespace {

using namespace scene;
using s = scene::mamba2_backward;

}  // namespace

TEST_CASE("nothing to write") { check_nothing_to_write<s>(); }

TEST_CASE("no tokens: gradients of what all share are 0") {
  for (int const what : {0, 1}) {
    s x;
    set_sizes(x, what, 0);
    auto host = x.arena.content();
    for (std::size_t i = 0; i < 4096; i += 4) put_fp32(host, at_final + i, float(i));
    x.arena.write(host);
    EXPECT_OK(call(x));
    auto const after = x.arena.content();
    for (auto const at : {at_dA, at_dD, at_dbias})
      for (std::size_t i = 0; i < 8; i += 4) CHECK(fp32_at(after, at + i) == 0);
    if (what == 0) continue;
    for (std::size_t i = 0; i < 4096; i += 4) REQUIRE(fp32_at(after, at_dinitial + i) == float(i));
  }
}

TEST_CASE("all types") { check_types<s>(); }
TEST_CASE("steps of x's type, D of columns") { check_forms<s>(); }
TEST_CASE("queries look at no data") { check_queries<s>(); }
TEST_CASE("as many blocks as can be counted are supported") { check_most_mamba2_blocks<s>(); }
TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  check_streams_and_far_rows<s>();
}
