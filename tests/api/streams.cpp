// SPDX-License-Identifier: MIT
// All work of a call belongs to the stream that it is given: while that stream holds its work back
// nothing is written, neither results nor workspace, and afterwards the results are those of the
// default stream. The host has no streams: there only the results are checked.
#include "tests/api/scene.hpp"

using namespace scene;

namespace {

tk_status enqueue(tk_gemm_problem const& x, memory const& workspace, void* stream) {
  return tk_gemm(&x, workspace.at(), workspace.size(), stream);
}
tk_status enqueue(tk_attention_forward_problem const& x, memory const& workspace, void* stream) {
  return tk_attention_forward(&x, workspace.at(), workspace.size(), stream);
}
tk_status enqueue(tk_norm_problem const& x, memory const& workspace, void* stream) {
  return tk_norm(&x, workspace.at(), workspace.size(), stream);
}

// As content(), which would wait for the held stream, too.
bytes content_now(memory const& m) {
  bytes host(m.size());
  rt::copy_out(host.data(), m.at(), m.size());
  return host;
}

template <class Problem> void check_stream(tk_op op, Problem const& problem, memory const& arena) {
  std::size_t needed = 0;
  EXPECT_OK(tk_workspace(op, &problem, &needed));
  memory const workspace(needed + 16);
  bytes const before = arena.content(), empty = workspace.content();
  // The first call also loads the kernels, which may wait for the device.
  EXPECT_OK(enqueue(problem, workspace, nullptr));
  bytes const after = arena.content();
  REQUIRE(after != before);
  arena.write(before);
  workspace.write(empty);

  rt::held_stream stream;
  REQUIRE(stream.handle() != nullptr);
  EXPECT_OK(enqueue(problem, workspace, stream.handle()));
  if (rt::held_stream::holds) {
    CHECK(content_now(arena) == before);
    CHECK(content_now(workspace) == empty);
  }
  stream.let_go();
  CHECK(content_now(arena) == after);
}
template <class Scene> void check_stream(Scene& s) { check_stream(Scene::op, *s.get(), s.arena); }

}  // namespace

TEST_CASE("attention's work is on its stream") {
  attention s;
  check_stream(s);
}

TEST_CASE("norm's work is on its stream") {
  norm s;
  check_stream(s);
}

TEST_CASE("gemm's work is on its stream") {
  gemm s;
  check_stream(s);
}

// Rows of both operands lie badly for most chips, which copy them first, in launches of their own.
TEST_CASE("so are the copies that gemm makes of its operands") {
  constexpr std::int64_t m = 96, n = 107, k = 129;
  memory const arena(std::size_t{1} << 17, arena_byte);
  tensor a(arena.at(0), bf16, {m, k}), b(arena.at(1 << 15), bf16, {k, n});
  tensor d(arena.at(1 << 16), fp32, {m, n});
  tk_gemm_problem problem{};
  problem.size = sizeof problem;
  problem.a = &a.dl, problem.b = &b.dl, problem.d = &d.dl;
  problem.alpha = 1;
  check_stream(TK_OP_GEMM, problem, arena);
}
