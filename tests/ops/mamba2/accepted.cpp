// SPDX-License-Identifier: MIT
// What must not be refused: no tokens, empty tensors without data, the state in its place, all
// types and forms, as many blocks as can be counted.
#include "tests/ops/mamba2/accepted_cases.hpp"

namespace {

using namespace scene;
using s = scene::mamba2;

}  // namespace

TEST_CASE("nothing to write") {
  check_nothing_to_write<s>();
  // No batches, or no tokens and nobody who wants the state.
  for (int const what : {0, 1}) {
    s x;
    set_sizes(x, what, 0);
    if (what == 1) x.final_state.given = nullptr;
    auto const before = x.arena.content();
    EXPECT_OK(s::call(x.get()));
    CHECK(x.arena.content() == before);
  }
}

TEST_CASE("no tokens: the final state is the initial one, or 0") {
  s x;
  set_sizes(x, 1, 0);
  auto host = x.arena.content();
  for (std::size_t i = 0; i < 4096; i += 4) put_fp32(host, at_initial + i, float(i));
  x.arena.write(host);
  for (float const factor : {1.f, 0.f}) {
    EXPECT_OK(call(x));
    auto const after = x.arena.content();
    for (std::size_t i = 0; i < 4096; i += 4)
      REQUIRE(fp32_at(after, at_final + i) == factor * float(i));
    x.initial_state.given = nullptr;
  }
}

TEST_CASE("the final state in place of the initial one") {
  s apart, in_place;
  EXPECT_OK(call(apart));
  in_place.final_state.dl.data = in_place.initial_state.dl.data;
  EXPECT_OK(call(in_place));
  auto const a = apart.arena.content(), b = in_place.arena.content();
  CHECK(std::equal(a.begin() + at_final, a.begin() + at_final + 4096, b.begin() + at_initial));
}

TEST_CASE("all types") { check_types<s>(); }
TEST_CASE("steps of x's type, D of columns") { check_forms<s>(); }
TEST_CASE("queries look at no data") { check_queries<s>(); }
TEST_CASE("as many blocks as can be counted are supported") { check_most_mamba2_blocks<s>(); }
TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  check_streams_and_far_rows<s>();
}
