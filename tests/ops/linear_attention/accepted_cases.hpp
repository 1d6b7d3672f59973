// SPDX-License-Identifier: MIT
// What neither the forward nor the backward refuses.
#pragma once
#include "tests/ops/linear_attention/scene.hpp"

namespace scene {

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

}  // namespace scene
