// SPDX-License-Identifier: MIT
// Of scenes whose sequences may be packed, Scene(true): what all of them refuse and accept alike.
#pragma once
#include "tests/support/far.hpp"
#include "tests/support/refusals.hpp"
#include "tests/support/streams.hpp"

namespace scene {

template <class Scene> struct packed_scene : Scene {
  packed_scene() : Scene(true) {}
};

// ---- refused
template <class s> auto sized(tensor s::* t, std::size_t axis, std::int64_t size) {
  return [=](s& x) { (x.*t).shape[axis] = size; };
}

// ---- accepted
// Nothing to write: accepted without data or workspace, and nothing happens.
template <class Scene> void check_nothing(Scene& x) {
  for (auto const& argument : x.arguments()) argument.of->dl.data = nullptr;
  auto const before = x.arena.content();
  EXPECT_OK(Scene::call(x.get()));
  CHECK(x.arena.content() == before);
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

template <class s> void check_streams_and_far_rows() {
  s x;
  check_stream(x);
  packed_scene<s> packed;
  check_stream(packed);
  check_far_rows<s>();
  check_far_rows<packed_scene<s>>();
}

}  // namespace scene
