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
  packed_scene<s> none, decayed;
  check_no_sequence(none);
  decayed.decay_by_head();
  check_no_sequence(decayed);
}

// 2^26 blocks of 16 tokens, of all sequences and heads: one of each five tokens, two of each head.
template <class s> void check_most_blocks() {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  s x;
  for (auto const& argument : x.arguments()) argument.of->dl.strides = nullptr;
  auto const batches = [&](std::int64_t count) {
    for (auto const& argument : x.arguments()) argument.of->shape[0] = count;
    return tk_supports(s::op, x.get());
  };
  EXPECT_OK(batches(most / 2));
  CHECK(batches(most / 2 + 1) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "of all heads is 67108866; it must be at most 67108864"));
}

}  // namespace scene
