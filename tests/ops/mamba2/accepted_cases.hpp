// SPDX-License-Identifier: MIT
// What neither the forward nor the backward refuses.
#pragma once
#include "tests/ops/mamba2/scene.hpp"

namespace scene {

// The dimension of an argument that counts batches (0), tokens (1) or heads (2); -1 where it has
// none.
inline int axis_of(argument const& x, int what) {
  std::string const name = x.name;
  if (says(name, "state")) return what == 0 ? 0 : what == 2 ? 1 : -1;
  bool const of_tokens = x.of->dl.ndim >= 3;
  if (of_tokens) return what;
  return what == 2 ? 0 : -1;
}
template <class Scene> void set_sizes(Scene& x, int what, std::int64_t size) {
  for (auto const& argument : x.arguments())
    if (int const axis = axis_of(argument, what); axis >= 0)
      argument.of->shape[static_cast<std::size_t>(axis)] = size;
}

template <class s> void check_no_heads() {
  s x;
  set_sizes(x, 2, 0);  // and no groups
  check_nothing(x);
}
template <class s> void check_nothing_to_write() {
  check_no_heads<s>();
  packed_scene<s> none;
  check_no_sequence(none);
}
template <class s> void check_most_mamba2_blocks() {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  s x;
  for (auto const& argument : x.arguments()) argument.of->dl.strides = nullptr;
  set_sizes(x, 0, most / 2);
  EXPECT_OK(tk_supports(s::op, x.get()));
  set_sizes(x, 0, most / 2 + 1);
  CHECK(tk_supports(s::op, x.get()) == TK_UNSUPPORTED);
  CHECK(says(tk_last_error(), "of all heads is 67108866; it must be at most 67108864"));
}
// dt of x's type as well, D of columns.
template <class s> void check_forms() {
  s x;
  for (auto const& argument : x.arguments()) {
    std::string const name = argument.name;
    if (name == "dt" || name == "ddt") argument.of->dl.dtype = bf16;
    if (name != "D" && name != "dD") continue;
    argument.of->dl.ndim = 2;
    argument.of->shape[1] = 16;
    argument.of->strides[0] = name == "D" ? 1 : 16, argument.of->strides[1] = name == "D" ? 0 : 1;
    argument.of->dl.data = x.arena.at(name == "D" ? at_D : 24576);
  }
  EXPECT_OK(call(x));
}

}  // namespace scene
