// SPDX-License-Identifier: MIT
// The C++ interface: defaults, views and options, workspace; and the backward behind the forward,
// as it is used.
#include "ops/norm/norm_backward_call.hpp"

#include <cmath>

#include "ops/norm/norm_call.hpp"
#include "tests/ops/norm/backward_scene.hpp"

using namespace scene;

// Rows of 1 and 3 in turn, halves of them x and residual: LayerNorm, whose eps of 1e-5 is next to
// nothing, gives -1 and 1. Of dy = 16 and 0, mean g and mean g h are 8 and -8: dx is 0.
TEST_CASE("the backward takes what the forward gave") {
  constexpr std::int64_t rows = 6, width = 20;
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < rows * width; ++i) {
    put_fp32(host, 4 * i, i % 2 ? 1.5f : 0.5f);
    put_fp32(host, 4096 + 4 * i, i % 2 ? 0 : 16);
  }
  arena.write(host);
  auto const in = [&](std::size_t at) {
    return tk::tensor_view(arena.at(4096 * at), tk::dl_fp32, {rows, width});
  };
  auto const out = [&](std::size_t at) {
    return tk::output_view(arena.at(4096 * at), tk::dl_fp32, {rows, width});
  };
  auto const columns = [&](std::size_t at) {
    return tk::output_view(arena.at(4096 * at), tk::dl_fp32, {width});
  };
  auto const number = [&](std::size_t at, std::size_t i) {
    return fp32_at(arena.content(), 4096 * at + 4 * i);
  };
  tk::norm(in(0), out(2), {.residual = in(0), .r = out(3)});
  CHECK(std::abs(number(2, 0) + 1) < 1e-4f);

  tk::norm_backward_options options{.dweight = columns(5), .dbias = columns(6)};
  auto const needed = tk::norm_backward_workspace(in(3), in(1), out(4), options);
  memory workspace(needed + 1);
  options.workspace = needed ? workspace.at() : nullptr;
  options.workspace_bytes = needed;
  CHECK(!tk::norm_backward_refusal(in(3), in(1), out(4), options));
  tk::norm_backward(in(3), in(1), out(4), options);
  for (std::size_t i = 0; i < rows * width; ++i) CHECK(std::abs(number(4, i)) < 1e-3f);
  for (std::size_t i = 0; i < width; ++i) {
    CHECK(std::abs(number(5, i) - (i % 2 ? 0 : -96)) < 1e-2f);
    CHECK(number(6, i) == (i % 2 ? 0 : 96));
  }

  // All in one: weight 2 and dr = dy, of RMSNorm with eps 11: 2 times 3.875 and -0.375, plus dr.
  for (std::size_t i = 0; i < width; ++i) put_fp32(host, 4 * i, 2);
  memory weight(arena_bytes);
  weight.write(host);
  options.weight = {weight.at(), tk::dl_fp32, {width}};
  options.dr = in(1);
  options.kind = TK_NORM_RMS;
  options.eps = 11;
  tk::norm_backward(in(3), in(1), out(4), options);
  for (std::size_t i = 0; i < rows * width; ++i)
    CHECK(std::abs(number(4, i) - (i % 2 ? -0.75f : 23.75f)) < 1e-4f);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::tensor_view const r(arena.at(), tk::dl_bf16, {16});
  tk::output_view const dx(arena.at(8192), tk::dl_bf16, {1, 16});
  expect_error(tk::status::bad_rank, "dx has 2 dimensions where r has 1",
               [&] { tk::norm_backward(r, r, dx); });
  expect_error(tk::status::null_pointer, "dy is NULL", [&] { tk::norm_backward(r, {}, dx); });
  CHECK(tk::norm_backward_refusal(r, r, dx)->code() == tk::status::bad_rank);
}
