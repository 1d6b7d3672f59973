// SPDX-License-Identifier: MIT
// What must not be refused of the backward: no tokens, empty tensors without data, all types.
#include "tests/ops/based/backward_scene.hpp"

namespace {

using namespace scene;
using s = scene::based_backward;

constexpr std::size_t state_bytes = 2 * 2 * moments * 16 * 4, sums_bytes = 2 * 2 * moments * 4;

bytes part(bytes const& host, std::size_t at, std::size_t size) {
  auto const from = host.begin() + std::ptrdiff_t(at);
  return {from, from + std::ptrdiff_t(size)};
}

}  // namespace

TEST_CASE("nothing to write") {
  for (bool const heads : {false, true}) {
    s x;
    for (auto const& argument : x.arguments())
      argument.of->shape[!heads ? 0 : says(argument.name, "_") ? 1 : 2] = 0;
    check_nothing(x);
  }
  s x;  // no tokens, and nobody wants gradients of states
  for (auto* t : {&x.q, &x.k, &x.v, &x.dout, &x.dq, &x.dk, &x.dv}) t->shape[1] = 0;
  x.dinitial_state.given = x.dinitial_sums.given = nullptr;
  auto const before = x.arena.content();
  EXPECT_OK(s::call(x.get()));
  CHECK(x.arena.content() == before);
}

TEST_CASE("no tokens: gradients of initial states are those of final ones, or 0") {
  s x;
  for (auto* t : {&x.q, &x.k, &x.v, &x.dout, &x.dq, &x.dk, &x.dv})
    t->shape[1] = 0, t->dl.data = nullptr;
  bytes of_state(arena_bytes, 0);
  auto host = x.arena.content();
  for (std::size_t i = 0; i < state_bytes; i += 4) put_fp32(of_state, i, float(i));
  for (std::size_t i = 0; i < sums_bytes; i += 4) put_fp32(host, at_dfinal_sums + i, float(i));
  x.more.write(of_state);
  x.arena.write(host);
  EXPECT_OK(call(x));
  host = x.arena.content();
  CHECK(part(host, at_final, state_bytes) == part(of_state, 0, state_bytes));
  CHECK(part(host, at_dinitial_sums, sums_bytes) == part(host, at_dfinal_sums, sums_bytes));
  x.dfinal_state.given = x.dfinal_sums.given = nullptr;
  EXPECT_OK(call(x));
  host = x.arena.content();
  CHECK(part(host, at_final, state_bytes) == bytes(state_bytes, 0));
  CHECK(part(host, at_dinitial_sums, sums_bytes) == bytes(sums_bytes, 0));
}

TEST_CASE("all types") { check_types<s>(); }
TEST_CASE("queries look at no data") { check_queries<s>(); }
TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  check_streams_and_far_rows<s>();
}
