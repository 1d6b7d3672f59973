// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/gemm/gemm_call.hpp"

#include <cmath>

#include "tests/ops/gemm/scene.hpp"

using namespace scene;

constexpr std::size_t at_q = 0, at_k = 4096, at_o = 12288;

TEST_CASE("gemm of views") {
  memory arena(arena_bytes);
  arena.write(ones(at_o));
  tk::tensor_view const a(arena.at(at_q), tk::dl_bf16, {8, 16});
  tk::tensor_view const b(arena.at(at_k), tk::dl_bf16, {24, 16});
  tk::output_view const d(arena.at(at_o), tk::dl_fp32, {8, 24}, {32, 1});
  tk::gemm_options options{.transpose_b = true, .alpha = 2};
  auto const needed = tk::gemm_workspace(a, b, d, options);
  memory workspace(needed + 1);
  options.workspace = workspace.at();
  options.workspace_bytes = needed;
  CHECK(!tk::gemm_refusal(a, b, d, options));
  tk::gemm(a, b, d, options);
  auto const host = arena.content();
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 32; ++j) {
      REQUIRE(fp32_at(host, at_o + 4 * (32 * i + j)) == (j < 24 ? 32 : 0));
    }
  }
  // views written in the call, the sum so far as c
  options.beta = 1;
  options.c = d;
  tk::gemm({arena.at(at_q), tk::dl_bf16, {8, 16}}, {arena.at(at_k), tk::dl_bf16, {24, 16}}, d,
           options);
  CHECK(fp32_at(arena.content(), at_o) == 64);
}

TEST_CASE("gemm of DLTensors") {
  gemm s;
  s.arena.write(ones(at_o));
  s.problem.beta = 0;
  auto const* problem = s.get();
  auto const needed = tk::gemm_workspace(problem->a, problem->b, problem->d);
  memory workspace(needed + 1);
  tk::gemm(problem->a, problem->b, problem->d,
           {.workspace = workspace.at(), .workspace_bytes = needed});
  CHECK(fp32_at(s.arena.content(), at_o) == 16);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::tensor_view const a(arena.at(), tk::dl_bf16, {8, 16});
  tk::tensor_view const b(arena.at(4096), tk::dl_bf16, {15, 24});
  tk::output_view const d(arena.at(8192), tk::dl_fp32, {8, 24});
  expect_error(tk::status::bad_shape, "tk_gemm: b has rows = 15", [&] { tk::gemm(a, b, d); });
  expect_error(tk::status::bad_shape, "tk_workspace: b has rows = 15",
               [&] { tk::gemm_workspace(a, b, d); });
  auto const refused = tk::gemm_refusal(a, b, d);
  REQUIRE(refused);
  CHECK(refused->code() == tk::status::bad_shape);
  CHECK(says(refused->what(), "tk_supports: b has rows = 15"));

  expect_error(tk::status::null_pointer, "a is NULL", [&] { tk::gemm({}, b, d); });
  expect_error(tk::status::bad_rank, "5 dimensions",
               [&] { tk::tensor_view(arena.at(), tk::dl_bf16, {1, 1, 1, 1, 1}); });
  expect_error(tk::status::bad_stride, "1 strides for 2 sizes",
               [&] { tk::tensor_view(arena.at(), tk::dl_bf16, {1, 1}, {1}); });
  CHECK(arena.content() == bytes(arena_bytes, 0));
}
