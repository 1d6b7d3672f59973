// SPDX-License-Identifier: MIT
// What must not be refused: no gates, two dimensions, no elements, both types, the largest sizes;
// and filters whose transforms an earlier call left in the workspace.
#include "tests/ops/fft_conv/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;
using s = fft_conv;

// y of ones and a filter of ones, taps 7: 1, 2, ..., 7, 7, ...
void check_counting(s& x, float factor = 1) {
  x.arena.write(ones(at_k));
  auto host = x.arena.content();
  for (std::size_t i = 0; i < 14; ++i) put_fp32(host, at_k + 4 * i, factor);
  x.arena.write(host);
  EXPECT_OK(call(x));
  host = x.arena.content();
  for (std::size_t t = 0; t < 80; ++t) {
    bytes expected(2);
    put_bf16(expected, 0,
             x.problem.circular ? 7.f : static_cast<float>(std::min<std::size_t>(t % 20 + 1, 7)));
    CAPTURE(t);
    CHECK(
        std::equal(expected.begin(), expected.end(), host.begin() + std::ptrdiff_t(at_y + 2 * t)));
  }
}

}  // namespace

TEST_CASE("gates may be absent; causal and circular") {
  for (int const circular : {0, 1})
    for (int gates = 0; gates < 4; ++gates) {
      s x;
      x.problem.circular = circular;
      if (gates & 1) x.pre.given = nullptr;
      if (gates & 2) x.post.given = nullptr;
      check_counting(x);
    }
}

TEST_CASE("two dimensions, no strides, a filter of several channels") {
  s x;
  x.problem.repeat = TK_REPEAT_ROW;
  for (auto* t : x.sequences()) t->dl.ndim = 2, t->shape = {4, 20}, t->dl.strides = nullptr;
  check_counting(x);
  s one;
  one.k.shape[0] = 1;
  check_counting(one);
}

TEST_CASE("nothing to write") {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    s x;
    for (auto* t : x.sequences()) t->shape[axis] = 0, t->dl.data = nullptr;
    if (axis == 1) x.k.shape[0] = 0, x.k.dl.data = nullptr;
    auto const before = x.arena.content();
    EXPECT_OK(s::call(x.get()));
    CHECK(x.arena.content() == before);
  }
  s none;  // no tap: zeros
  none.k.shape[1] = 0, none.k.dl.data = nullptr;
  EXPECT_OK(call(none));
  auto const host = none.arena.content();
  for (std::size_t i = 0; i < 160; ++i) CHECK(host[at_y + i] == 0);
}

TEST_CASE("fp16") {
  s x;
  for (auto* t : x.sequences()) t->dl.dtype = fp16;
  EXPECT_OK(call(x));
}

TEST_CASE("queries look at no data, and the largest sizes are supported") {
  s x;
  std::size_t with_data = 0, without = 0;
  EXPECT_OK(tk_workspace(s::op, x.get(), &with_data));
  for (auto const& argument : x.arguments()) argument.of->dl.data = nullptr;
  EXPECT_OK(tk_workspace(s::op, x.get(), &without));
  CHECK(with_data == without);
  for (auto* t : x.sequences()) t->dl.strides = nullptr, t->shape = {1, 2, 1 << 24};
  x.k.shape[1] = 1 << 30;
  x.k.dl.strides = nullptr;
  EXPECT_OK(tk_supports(s::op, x.get()));
  for (auto* t : x.sequences()) t->shape = {1 << 20, 256, 1};
  EXPECT_OK(tk_supports(s::op, x.get()));
}

// Filters of 200 taps. The second call has other batches; that k's memory holds something else
// shows that transforms are not made again.
TEST_CASE("a filter's transform is used again") {
  struct longer : s {
    longer() {
      std::size_t at = 0;
      for (auto* t : sequences()) {
        t->dl.strides = nullptr, t->shape = {2, 2, 200};
        t->dl.data = arena.at(at), at += 4096;
      }
      k.dl.strides = nullptr, k.shape = {2, 200}, k.dl.data = arena.at(at);
      auto host = ones(at);
      for (std::size_t i = 0; i < 800; ++i) put_bf16(host, 2 * i, float(i % 7) - 3);
      arena.write(host);
      fill_filters(0.25f);
    }
    void fill_filters(float factor) {
      auto host = arena.content();
      for (std::size_t i = 0; i < 400; ++i)
        put_fp32(host, 4 * 4096 + 4 * i, factor * float(i % 5 + 1));
      arena.write(host);
    }
    bytes result() {
      auto const host = arena.content();
      return {host.begin() + 3 * 4096, host.begin() + 3 * 4096 + 1600};
    }
  };
  longer first, second, fresh;
  std::size_t needed = 0;
  EXPECT_OK(tk_workspace(s::op, first.get(), &needed));
  memory workspace(needed);
  for (auto* t : first.sequences()) t->shape[0] = 1;
  EXPECT_OK(s::call(first.get(), workspace.at(), needed));
  rt::synchronize();
  second.fill_filters(1000);
  second.problem.filter_is_ready = 1;
  EXPECT_OK(s::call(second.get(), workspace.at(), needed));
  EXPECT_OK(call(fresh));
  auto const got = second.result();
  CHECK(got == fresh.result());
  second.problem.filter_is_ready = 0;
  EXPECT_OK(s::call(second.get(), workspace.at(), needed));
  CHECK(second.result() != got);
}

TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  s x;
  check_stream(x);
  check_far_rows<s>();
}
