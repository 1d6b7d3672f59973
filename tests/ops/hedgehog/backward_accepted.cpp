// SPDX-License-Identifier: MIT
// What tk_hedgehog_backward accepts at its limits, and that such calls do what they say.
#include "tests/ops/hedgehog/backward_scene.hpp"

namespace {

using namespace scene;
using s = hedgehog_backward;

bytes part(bytes const& host, std::size_t at, std::size_t size) {
  auto const from = host.begin() + std::ptrdiff_t(at);
  return {from, from + std::ptrdiff_t(size)};
}

}  // namespace

TEST_CASE("without gradients of maps, factors and states the others are the same") {
  s all, few;
  EXPECT_OK(call(all));
  for (auto* t :
       {&few.dmap_q, &few.dmap_k, &few.dalpha, &few.dbeta, &few.dinitial_kv, &few.dinitial_k})
    t->given = nullptr;
  auto const before = few.arena.content();
  EXPECT_OK(call(few));
  auto const x = all.arena.content(), y = few.arena.content();
  std::size_t const of_q = 3072, of_k = 5120, of_maps = 1 << 16;
  CHECK(part(x, s::at_dq, of_q) == part(y, s::at_dq, of_q));
  CHECK(part(x, s::at_dk, of_k) == part(y, s::at_dk, of_k));
  CHECK(part(x, s::at_dv, of_k) == part(y, s::at_dv, of_k));
  CHECK(part(y, s::at_dmap_q, 2 * of_maps) == part(before, s::at_dmap_q, 2 * of_maps));
}

TEST_CASE("no tokens: sums are 0, and the state's gradient is handed on") {
  s x;
  for (auto* t : {&x.q, &x.k, &x.v, &x.o, &x.dout, &x.dq, &x.dk, &x.dv})
    t->shape[1] = 0, t->dl.data = nullptr;
  x.normaliser.shape[2] = 0, x.normaliser.dl.data = nullptr;
  EXPECT_OK(call(x));
  auto const host = x.arena.content();
  std::size_t const of_maps = 1 << 16, of_kv = 1 << 18, of_k = 2048;
  CHECK(part(host, s::at_dmap_q, of_maps) == bytes(of_maps, 0));
  CHECK(part(host, s::at_dmap_k, of_maps) == bytes(of_maps, 0));
  CHECK(part(host, s::at_dalpha, 8) == bytes(8, 0));
  CHECK(part(host, s::at_dbeta, 8) == bytes(8, 0));
  CHECK(part(host, s::at_dinitial_kv, of_kv) == part(host, s::at_dfinal_kv, of_kv));
  CHECK(part(host, s::at_dinitial_k, of_k) == part(host, s::at_dfinal_k, of_k));
}

TEST_CASE("no sequence") {
  packed_scene<s> x;
  check_no_sequence(x);
}

TEST_CASE("no head") {
  s x;
  for (auto* t : {&x.q, &x.k, &x.v, &x.o, &x.dout, &x.dq, &x.dk, &x.dv}) t->shape[2] = 0;
  for (auto* t : {&x.initial_kv, &x.initial_k, &x.dfinal_kv, &x.dfinal_k, &x.dinitial_kv,
                  &x.dinitial_k, &x.normaliser})
    t->shape[1] = 0;
  for (auto* t : {&x.map_q, &x.map_k, &x.alpha, &x.beta, &x.dmap_q, &x.dmap_k, &x.dalpha, &x.dbeta})
    t->shape[0] = 0;
  auto const before = x.arena.content();
  EXPECT_OK(s::call(x.get()));
  CHECK(x.arena.content() == before);
}

TEST_CASE("all types") { check_types<s>(); }
TEST_CASE("queries look at no data") { check_queries<s>(); }
TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  check_streams_and_far_rows<s>();
}
