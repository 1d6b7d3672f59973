// SPDX-License-Identifier: MIT
// What must not be refused: slices of one buffer, no tokens, empty tensors without data, all types,
// as many blocks as can be counted.
#include "tests/ops/linear_attention/accepted_cases.hpp"
#include "tests/ops/linear_attention/backward_scene.hpp"

namespace {

using namespace scene;
using s = linear_attention_backward;

constexpr std::size_t state_bytes = 2 * 2 * 16 * 32 * 4;

}  // namespace

TEST_CASE("all tensors of tokens are slices of one buffer") {
  // [b, n, heads of each in a row, d]: zeros, and NaN where gradients are to be written
  constexpr std::int64_t b = 2, n = 6, h = 2, d = 16, row = 7 * h * d;
  constexpr std::size_t size = b * n * row * 2;
  s x;
  memory buffer(size);
  bytes host(size, 0);
  for (std::size_t i = 0; i < b * n; ++i)
    std::fill_n(host.begin() + std::ptrdiff_t(i * row * 2), 3 * h * d * 2, 0xff);
  buffer.write(host);
  std::size_t place = 0;
  for (auto* t : {&x.dq, &x.dk, &x.dv, &x.q, &x.k, &x.v, &x.dout}) {
    t->dl.data = buffer.at(place++ * h * d * 2);
    std::int64_t const shape[] = {b, n, h, d}, strides[] = {n * row, row, d, 1};
    std::copy_n(shape, 4, t->shape.begin());
    std::copy_n(strides, 4, t->strides.begin());
  }
  for (auto* t :
       {&x.log_decay, &x.dlog_decay, &x.initial_state, &x.dfinal_state, &x.dinitial_state})
    t->given = nullptr;
  EXPECT_OK(call(x));
  CHECK(buffer.content() == bytes(size, 0));
}

TEST_CASE("nothing to write") {
  check_nothing_to_write<s>();
  s x;  // no tokens, and nobody wants the state
  for (auto* t : {&x.q, &x.k, &x.v, &x.dout, &x.dq, &x.dk, &x.dv, &x.log_decay, &x.dlog_decay})
    t->shape[1] = 0;
  x.initial_state.given = x.dfinal_state.given = x.dinitial_state.given = nullptr;
  check_nothing(x);
}

TEST_CASE("no tokens: the initial state's gradient is the final one's, or 0") {
  s x;
  for (auto* t : {&x.q, &x.k, &x.v, &x.dout, &x.dq, &x.dk, &x.dv, &x.log_decay, &x.dlog_decay})
    t->shape[1] = 0, t->dl.data = nullptr;
  auto host = x.arena.content();
  for (std::size_t i = 0; i < state_bytes; i += 4) put_fp32(host, at_dfinal + i, float(i));
  x.arena.write(host);
  auto const check = [&](float factor) {
    EXPECT_OK(call(x));
    auto const after = x.arena.content();
    for (std::size_t i = 0; i < state_bytes; i += 4)
      REQUIRE(fp32_at(after, at_dinitial + i) == factor * float(i));
  };
  check(1);
  x.dfinal_state.given = nullptr;
  check(0);
}

TEST_CASE("no tokens: a head's decay has the gradient 0") {
  by_head<s> x;
  for (auto* t : {&x.q, &x.k, &x.v, &x.dout, &x.dq, &x.dk, &x.dv})
    t->shape[1] = 0, t->dl.data = nullptr;
  x.initial_state.given = x.dfinal_state.given = x.dinitial_state.given = nullptr;
  EXPECT_OK(call(x));
  for (std::size_t i = 0; i < 2; ++i) REQUIRE(fp32_at(x.arena.content(), at_ddecay + 4 * i) == 0);
}

TEST_CASE("all types") { check_types<s>(); }
TEST_CASE("queries look at no data") { check_queries<s>(); }
TEST_CASE("as many blocks as can be counted are supported") { check_most_blocks<s>(); }
TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  check_streams_and_far_rows<s>();
}
