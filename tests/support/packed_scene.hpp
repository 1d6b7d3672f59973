// SPDX-License-Identifier: MIT
// Of scenes whose sequences may be packed, Scene(true): what all of them refuse and accept alike.
#pragma once
#include <algorithm>
#include <string>

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
// No sequence: the tokens that there are, 300 of them, belong to none, and states are empty. Sums
// over all of them are 0, and nothing else is written, whatever lies behind the one start.
template <class Scene> void check_no_sequence(packed_scene<Scene>& x) {
  auto const all = x.arguments();
  std::size_t const of_each = std::size_t{1} << 18;
  memory const room(all.size() * of_each, arena_byte);
  auto expected = room.content();
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& t = *all[i].of;
    std::string const name = all[i].name;
    if (says(name, "starts")) {
      t.shape[0] = 1;
      auto host = x.arena.content();
      auto const* const mine = static_cast<char*>(t.dl.data);
      auto const at = static_cast<std::size_t>(mine - static_cast<char*>(x.arena.at()));
      std::int32_t const numbers[] = {0, 300};
      std::memcpy(host.data() + at, numbers, sizeof numbers);
      x.arena.write(host);
      continue;
    }
    t.dl.data = room.at(i * of_each);
    t.dl.strides = nullptr;
    if (says(name, "initial") || says(name, "final")) {
      t.shape[0] = 0;
      continue;
    }
    bool of_tokens = false;
    std::size_t elements = 1;
    for (int k = 0; k < t.dl.ndim; ++k) {
      auto& size = t.shape[static_cast<std::size_t>(k)];
      if (size == 6 || size == 10) size = 300, of_tokens = true;
      elements *= static_cast<std::size_t>(size);
    }
    if (of_tokens || std::ranges::find(Scene::outputs, name) == std::end(Scene::outputs)) continue;
    auto const from = expected.begin() + static_cast<std::ptrdiff_t>(i * of_each);
    std::fill_n(from, elements * t.dl.dtype.bits / 8, std::uint8_t{0});
  }
  EXPECT_OK(call(x));
  CHECK(room.content() == expected);
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
