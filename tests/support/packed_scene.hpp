// SPDX-License-Identifier: MIT
// Of scenes whose sequences may be packed, Scene(true): what all of them refuse and accept alike.
#pragma once
#include <algorithm>

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

// Each output and each other tensor, the smaller at the beginning and at the end of the larger.
// Pairs that may be in one place, wholly, are left out: final_... and initial_...
template <class s> void try_overlaps() {
  auto const bytes_of = [](tensor const& t) {
    std::int64_t count = t.dl.dtype.bits / 8;
    for (int a = 0; a < t.dl.ndim; ++a) count *= t.shape[std::size_t(a)];
    return count;
  };
  std::vector<std::string> names;
  for (auto const& x : s().arguments()) names.push_back(x.name);
  for (std::string const output : s::outputs)
    for (auto const& other : names) {
      bool const may_be_one =
          output.starts_with("final_") && other == "initial_" + output.substr(6);
      bool const given = std::find(names.begin(), names.end(), output) != names.end();
      if (output == other || may_be_one || !given) continue;
      for (bool const at_end : {false, true}) {
        CAPTURE(output);
        CAPTURE(other);
        s x;
        tensor *small = nullptr, *large = nullptr;
        for (auto const& argument : x.arguments()) {
          if (argument.name == output) small = argument.of;
          if (argument.name == other) large = argument.of;
        }
        if (bytes_of(*small) > bytes_of(*large)) std::swap(small, large);
        small->dl.data = large->dl.data;
        if (at_end) small->move(bytes_of(*large) - bytes_of(*small));
        try_refusal(x, TK_BAD_OVERLAP, launch_only, {output + " at", other + " at"});
      }
    }
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
