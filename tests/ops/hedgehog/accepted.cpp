// SPDX-License-Identifier: MIT
// What tk_hedgehog accepts at its limits, and that such calls do what they say.
#include "tests/ops/hedgehog/scene.hpp"

namespace {

using namespace scene;
using s = hedgehog;

bytes part(bytes const& host, std::size_t at, std::size_t size) {
  auto const from = host.begin() + std::ptrdiff_t(at);
  return {from, from + std::ptrdiff_t(size)};
}
void leave_out_states(s& x) {
  for (auto* t : {&x.initial_kv, &x.initial_k, &x.final_kv, &x.final_k}) t->given = nullptr;
}

// Nothing to write: accepted without workspace, and nothing happens.
void check_unchanged(s& x) {
  auto const before = x.arena.content();
  EXPECT_OK(s::call(x.get()));
  CHECK(x.arena.content() == before);
}

}  // namespace

TEST_CASE("nothing to write") {
  s no_batch;
  for (auto* t : {&no_batch.q, &no_batch.k, &no_batch.v, &no_batch.o, &no_batch.initial_kv,
                  &no_batch.initial_k, &no_batch.final_kv, &no_batch.final_k, &no_batch.lengths,
                  &no_batch.normaliser})
    t->shape[0] = 0;
  check_unchanged(no_batch);
  s no_head;
  for (auto* t : {&no_head.q, &no_head.k, &no_head.v, &no_head.o}) t->shape[2] = 0;
  for (auto* t : {&no_head.initial_kv, &no_head.initial_k, &no_head.final_kv, &no_head.final_k,
                  &no_head.normaliser})
    t->shape[1] = 0;
  for (auto* t : {&no_head.map_q, &no_head.map_k, &no_head.alpha, &no_head.beta}) t->shape[0] = 0;
  check_unchanged(no_head);
  s no_query;  // and nobody wants the state
  for (auto* t : {&no_query.q, &no_query.o}) t->shape[1] = 0;
  no_query.normaliser.shape[2] = 0;
  leave_out_states(no_query);
  check_unchanged(no_query);
  packed_scene<s> no_sequence;  // what tokens there are belong to none
  no_sequence.starts.shape[0] = no_sequence.key_starts.shape[0] = 1;
  for (auto* t : {&no_sequence.initial_kv, &no_sequence.initial_k, &no_sequence.final_kv,
                  &no_sequence.final_k})
    t->shape[0] = 0;
  check_unchanged(no_sequence);
}

TEST_CASE("no keys: the final state is the initial one, or 0") {
  s x;
  for (auto* t : {&x.q, &x.k, &x.v, &x.o}) t->shape[1] = 0, t->dl.data = nullptr;
  x.normaliser.shape[2] = 0;
  auto host = x.arena.content();
  for (std::size_t i = 0; i < s::bytes_of_kv; i += 4)
    put_fp32(host, s::at_initial_kv + i, float(i));
  for (std::size_t i = 0; i < s::bytes_of_k; i += 4) put_fp32(host, s::at_initial_k + i, float(i));
  x.arena.write(host);
  EXPECT_OK(call(x));
  host = x.arena.content();
  CHECK(part(host, s::at_final_kv, s::bytes_of_kv) == part(host, s::at_initial_kv, s::bytes_of_kv));
  CHECK(part(host, s::at_final_k, s::bytes_of_k) == part(host, s::at_initial_k, s::bytes_of_k));
  x.initial_kv.given = x.initial_k.given = nullptr;
  EXPECT_OK(call(x));
  host = x.arena.content();
  CHECK(part(host, s::at_final_kv, s::bytes_of_kv) == bytes(s::bytes_of_kv, 0));
  CHECK(part(host, s::at_final_k, s::bytes_of_k) == bytes(s::bytes_of_k, 0));
}

TEST_CASE("final states in the initial ones' place, and without either") {
  s x, in_place, neither, without_initial, without_final;
  EXPECT_OK(call(x));
  in_place.final_kv.dl.data = in_place.initial_kv.dl.data;
  in_place.final_k.dl.data = in_place.initial_k.dl.data;
  EXPECT_OK(call(in_place));
  auto const apart = x.arena.content(), together = in_place.arena.content();
  CHECK(part(together, s::at_initial_kv, s::bytes_of_kv) ==
        part(apart, s::at_final_kv, s::bytes_of_kv));
  CHECK(part(together, s::at_initial_k, s::bytes_of_k) ==
        part(apart, s::at_final_k, s::bytes_of_k));
  CHECK(part(together, s::at_o, s::bytes_of_o) == part(apart, s::at_o, s::bytes_of_o));
  without_final.final_kv.given = without_final.final_k.given = nullptr;
  EXPECT_OK(call(without_final));
  CHECK(part(without_final.arena.content(), s::at_o, s::bytes_of_o) ==
        part(apart, s::at_o, s::bytes_of_o));
  without_initial.initial_kv.given = without_initial.initial_k.given = nullptr;
  EXPECT_OK(call(without_initial));
  leave_out_states(neither);
  EXPECT_OK(call(neither));
  CHECK(part(neither.arena.content(), s::at_o, s::bytes_of_o) ==
        part(without_initial.arena.content(), s::at_o, s::bytes_of_o));
}

TEST_CASE("key_starts are starts where they are not given") {
  packed_scene<s> x, y;
  for (auto* scene : {&x, &y}) {
    for (auto* t : {&scene->k, &scene->v}) t->shape[0] = 6;
    auto host = scene->arena.content();
    std::memcpy(host.data() + s::at_key_starts, host.data() + s::at_starts, 12);
    scene->arena.write(host);
  }
  y.key_starts.given = nullptr;
  EXPECT_OK(call(x));
  EXPECT_OK(call(y));
  CHECK(x.arena.content() == y.arena.content());
}

TEST_CASE("as many blocks as can be counted are supported") {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  s x;
  std::vector<tensor*> const of_batches{&x.q,          &x.k,         &x.v,        &x.o,
                                        &x.initial_kv, &x.initial_k, &x.final_kv, &x.final_k,
                                        &x.lengths,    &x.normaliser};
  for (auto* t : of_batches) t->dl.strides = nullptr;
  auto const batches = [&](std::int64_t count) {
    for (auto* t : of_batches) t->shape[0] = count;
    return tk_supports(s::op, x.get());
  };
  EXPECT_OK(batches(most / 2));
  CHECK(batches(most / 2 + 1) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "of all heads is 67108866; it must be at most 67108864"));
}

TEST_CASE("all types") { check_types<s>(); }
TEST_CASE("queries look at no data") { check_queries<s>(); }
TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  check_streams_and_far_rows<s>();
}
