// SPDX-License-Identifier: MIT
// What the backward must not refuse: outputs that are not wanted, gradients of gates that are
// absent, no elements, both types; a filter's transform that the forward left in the workspace.
#include "tests/ops/fft_conv/backward_scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace scene;
using s = fft_conv_backward;

constexpr std::size_t places[] = {at_du, at_dk, at_dpre, at_dpost};
std::array<tensor*, 4> outputs_of(s& x) { return {&x.du, &x.dk, &x.dpre, &x.dpost}; }
bytes part(bytes const& host, std::size_t at) {
  return {host.begin() + std::ptrdiff_t(at), host.begin() + std::ptrdiff_t(at + 1024)};
}

}  // namespace

TEST_CASE("each output may be left out, and the others stay as they are") {
  s all;
  EXPECT_OK(call(all));
  auto const expected = all.arena.content();
  for (unsigned wanted = 0; wanted < 16; ++wanted) {
    CAPTURE(wanted);
    s x;
    auto const before = x.arena.content();
    for (std::size_t i = 0; i < 4; ++i)
      if (!(wanted >> i & 1)) outputs_of(x)[i]->given = nullptr;
    EXPECT_OK(call(x));
    auto const got = x.arena.content();
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(part(got, places[i]) == part(wanted >> i & 1 ? expected : before, places[i]));
  }
}

TEST_CASE("gates that are absent are ones") {
  s x, given;
  x.arena.write(ones(arena_bytes));
  given.arena.write(ones(arena_bytes));
  x.pre.given = x.post.given = nullptr;
  EXPECT_OK(call(x));
  EXPECT_OK(call(given));
  CHECK(x.arena.content() == given.arena.content());
}

TEST_CASE("nothing to do, and no sequence") {
  for (std::size_t axis = 0; axis < 3; axis += 2) {  // no batch, no element: dk is 0
    s x;
    for (auto* t : x.sequences()) t->shape[axis] = 0, t->dl.data = nullptr;
    EXPECT_OK(call(x));
    auto const host = x.arena.content();
    for (std::size_t i = 0; i < 56; ++i) CHECK(host[at_dk + i] == 0);
    CHECK(host[at_dk + 56] == arena_byte);
    x.dk.given = nullptr;
    EXPECT_OK(s::call(x.get()));
  }
  s x;  // no tap
  for (auto* t : {&x.k, &x.dk}) t->shape[1] = 0, t->dl.data = nullptr;
  EXPECT_OK(call(x));
}

TEST_CASE("fp16; queries look at no data") {
  s x;
  for (auto* t : x.sequences()) t->dl.dtype = fp16;
  EXPECT_OK(call(x));
  std::size_t with_data = 0, without = 0;
  EXPECT_OK(tk_workspace(s::op, x.get(), &with_data));
  for (auto const& argument : x.arguments()) argument.of->dl.data = nullptr;
  EXPECT_OK(tk_workspace(s::op, x.get(), &without));
  CHECK(with_data == without);
}

TEST_CASE("the forward's transform of the filter serves the backward") {
  constexpr std::size_t size = 800;  // of k, of which a transform is prepared, and of sequences
  auto const lengthen = [](auto& x) {
    for (auto* t : x.sequences()) t->shape = {1, 2, 200}, t->strides = {400, 200, 1};
    x.k.shape = {1, 200}, x.k.strides = {200, 1};
  };
  s x, fresh;
  fft_conv forward;
  lengthen(x), lengthen(fresh), lengthen(forward);
  fresh.dk.shape = x.dk.shape = x.k.shape, fresh.dk.strides = x.dk.strides = x.k.strides;
  std::size_t needed = 0, of_forward = 0;
  EXPECT_OK(tk_workspace(s::op, x.get(), &needed));
  EXPECT_OK(tk_workspace(fft_conv::op, forward.get(), &of_forward));
  memory workspace(std::max(needed, of_forward));
  EXPECT_OK(fft_conv::call(forward.get(), workspace.at(), of_forward));
  rt::synchronize();
  auto other = x.arena.content();
  std::fill_n(other.begin() + std::ptrdiff_t(at_k), size, bytes::value_type(0x3d));
  x.arena.write(other);  // it is not made again
  x.problem.filter_is_ready = 1;
  EXPECT_OK(s::call(x.get(), workspace.at(), needed));
  EXPECT_OK(call(fresh));
  auto const got = x.arena.content(), expected = fresh.arena.content();
  for (auto const at : places) CHECK(part(got, at) == part(expected, at));
  x.problem.filter_is_ready = 0;
  EXPECT_OK(s::call(x.get(), workspace.at(), needed));
  CHECK(part(x.arena.content(), at_du) != part(expected, at_du));
}

TEST_CASE("a call's work is on its stream; rows more than 2^31 elements apart") {
  s x;
  check_stream(x);
  check_far_rows<s>();
}
