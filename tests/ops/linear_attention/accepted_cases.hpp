// SPDX-License-Identifier: MIT
// What neither the forward nor the backward refuses.
#pragma once
#include <algorithm>

#include "tests/ops/linear_attention/scene.hpp"
#include "tests/support/far.hpp"
#include "tests/support/streams.hpp"

namespace scene {

// Nothing to write: accepted without data or workspace, and nothing happens.
template <class Scene> void check_nothing(Scene& x) {
  for (auto const& argument : x.arguments()) argument.of->dl.data = nullptr;
  auto const before = x.arena.content();
  EXPECT_OK(Scene::call(x.get()));
  CHECK(x.arena.content() == before);
}
template <class s> void check_nothing_to_write() {
  for (std::size_t axis = 0; axis < 3; axis += 2) {  // no batch, no head
    CAPTURE(axis);
    s x;
    for (auto const& argument : x.arguments()) {
      bool const is_state = says(argument.name, "state");
      argument.of->shape[is_state && axis == 2 ? 1 : axis] = 0;
    }
    check_nothing(x);
  }
  // No sequence: what tokens there are belong to none, and states are empty.
  packed_scene<s> none;
  auto const all = none.arguments();
  memory const room(all.size() << 16);
  none.starts.shape[0] = 1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& t = *all[i].of;
    if (&t == &none.starts) continue;
    bool const is_state = says(all[i].name, "state");
    t.shape[0] = is_state ? 0 : 300;
    t.dl.data = is_state ? nullptr : room.at(i << 16);
  }
  EXPECT_OK(s::call(none.get()));
  CHECK(room.content() == bytes(room.size(), 0));
}

// Both types, with everything and without each of what may be left out.
template <class s> void check_types() {
  for (auto const of : {bf16, fp16}) {
    s all;
    auto const count = all.arguments().size();
    for (std::size_t left_out = 0; left_out <= count; ++left_out) {
      CAPTURE(left_out);
      s x;
      for (auto const& argument : x.arguments())
        if (argument.of->dl.dtype.bits == 16) argument.of->dl.dtype = of;
      if (left_out < count) {
        auto const argument = x.arguments()[left_out];
        if (!argument.optional) continue;
        argument.of->given = nullptr;
      }
      EXPECT_OK(call(x));
    }
  }
}

template <class s> void check_queries() {
  s x;
  std::size_t with = 1, without = 2;
  EXPECT_OK(tk_workspace(s::op, x.get(), &with));
  for (auto const& argument : x.arguments()) argument.of->dl.byte_offset = 1;
  EXPECT_OK(tk_supports(s::op, x.get()));
  EXPECT_OK(tk_workspace(s::op, x.get(), &without));
  CHECK(with == without);
}

// 2^27 blocks of 16 tokens, of all sequences and heads: one of each five tokens, two of each head.
template <class s> void check_most_blocks() {
  constexpr std::int64_t most = std::int64_t{1} << 27;
  s x;
  for (auto const& argument : x.arguments()) argument.of->dl.strides = nullptr;
  auto const batches = [&](std::int64_t count) {
    for (auto const& argument : x.arguments()) argument.of->shape[0] = count;
    return tk_supports(s::op, x.get());
  };
  EXPECT_OK(batches(most / 2));
  CHECK(batches(most / 2 + 1) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "of all heads is 134217730; it must be at most 134217728"));
}

template <class s> void check_streams_and_far_rows() {
  s x;
  check_stream(x);
  packed_scene<s> packed;
  check_stream(packed);
  check_far_rows<s>();
  check_far_rows<packed_scene<s>>();
}

}  // namespace scene
