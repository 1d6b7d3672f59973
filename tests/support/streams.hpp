// SPDX-License-Identifier: MIT
// All work of a call belongs to the stream that it is given: while that stream holds its work back
// nothing is written, neither results nor workspace, and afterwards the results are those of the
// default stream. The host has no streams: there only the results are checked.
#pragma once
#include "tests/support/scene.hpp"

namespace scene {

// As content(), which would wait for the held stream, too.
inline bytes content_now(memory const& m) {
  bytes host(m.size());
  rt::copy_out(host.data(), m.at(), m.size());
  return host;
}

template <class Problem, class Call>
void check_stream(tk_op op, Problem const& problem, memory const& arena, Call const& call) {
  std::size_t needed = 0;
  EXPECT_OK(tk_workspace(op, &problem, &needed));
  memory const workspace(needed + 16);
  bytes const before = arena.content(), empty = workspace.content();
  // The first call also loads the kernels, which may wait for the device.
  EXPECT_OK(call(&problem, workspace.at(), workspace.size(), nullptr));
  bytes const after = arena.content();
  REQUIRE(after != before);
  arena.write(before);
  workspace.write(empty);

  rt::held_stream stream;
  REQUIRE(stream.handle() != nullptr);
  EXPECT_OK(call(&problem, workspace.at(), workspace.size(), stream.handle()));
  if (rt::held_stream::holds) {
    CHECK(content_now(arena) == before);
    CHECK(content_now(workspace) == empty);
  }
  stream.let_go();
  CHECK(content_now(arena) == after);
}
template <class Scene> void check_stream(Scene& s) {
  check_stream(Scene::op, *s.get(), s.arena, Scene::call);
}

}  // namespace scene
