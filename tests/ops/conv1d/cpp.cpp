// SPDX-License-Identifier: MIT
// The C++ interface: views, defaults, options, workspace; a step of decoding; the backward behind
// the forward; refusals as exceptions that carry the status and the sentence of the C interface.
#include "ops/conv1d/conv1d_backward_call.hpp"
#include "ops/conv1d/conv1d_call.hpp"
#include "tests/ops/conv1d/scene.hpp"

using namespace scene;

// Two channels of three tokens, 1, 2, 3 and 4, 5, 6; weights 1, 10 and 2, 0.
TEST_CASE("conv1d's options are optional") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  float const tokens[] = {1, 4, 2, 5, 3, 6}, weights[] = {1, 10, 2, 0}, ones[] = {1, 1};
  for (std::size_t i = 0; i < 6; ++i) put_fp32(host, 4 * i, tokens[i]);
  for (std::size_t i = 0; i < 4; ++i) put_fp32(host, 1024 + 4 * i, weights[i]);
  for (std::size_t i = 0; i < 2; ++i) put_fp32(host, 2048 + 4 * i, ones[i]);
  put_int32(host, 3072 + 4, 2), put_int32(host, 3072 + 8, 3);
  arena.write(host);
  tk::tensor_view const x(arena.at(), tk::dl_fp32, {3, 2}),
      weight(arena.at(1024), tk::dl_fp32, {2, 2}), bias(arena.at(2048), tk::dl_fp32, {2}),
      starts(arena.at(3072), tk::dl_int32, {3}), state(arena.at(5120), tk::dl_fp32, {1, 2});
  tk::output_view const y(arena.at(4096), tk::dl_fp32, {3, 2}),
      kept(arena.at(5120), tk::dl_fp32, {1, 2}), dx(arena.at(6144), tk::dl_fp32, {3, 2}),
      dweight(arena.at(7168), tk::dl_fp32, {2, 2}), dbias(arena.at(8192), tk::dl_fp32, {2});
  auto const check = [&](std::size_t at, std::vector<float> const& expected) {
    auto const got = arena.content();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(fp32_at(got, at + 4 * i) == expected[i]);
    }
  };
  CHECK(!tk::conv1d_refusal(x, weight, y));
  CHECK(tk::conv1d_workspace(x, weight, y) == 0);
  tk::conv1d(x, weight, y);
  check(4096, {10, 0, 21, 8, 32, 10});
  tk::conv1d(x, weight, y, {.bias = bias, .final_state = kept});
  check(4096, {11, 1, 22, 9, 33, 11});
  check(5120, {3, 6});
  // A step with the token 1, 4 behind 3, 6, which moves the state on.
  tk::tensor_view const token(arena.at(), tk::dl_fp32, {1, 2});
  tk::output_view const next(arena.at(4096), tk::dl_fp32, {1, 2});
  tk::conv1d(token, weight, next, {.initial_state = state, .final_state = kept});
  check(4096, {13, 12});
  check(5120, {1, 4});
  tk::conv1d(x, weight, y, {.starts = starts});  // sequences of two tokens and of one
  check(4096, {10, 0, 21, 8, 30, 0});

  tk::conv1d_backward_options options{.bias = bias, .dweight = dweight, .dbias = dbias};
  auto const needed = tk::conv1d_backward_workspace(x, weight, x, dx, options);
  CHECK(needed > 0);
  memory workspace(needed);
  options.workspace = workspace.at();
  options.workspace_bytes = needed;
  CHECK(!tk::conv1d_backward_refusal(x, weight, x, dx, options));
  tk::conv1d_backward(x, weight, x, dx, options);
  check(6144, {12, 10, 23, 12, 30, 0});
  check(7168, {1 * 2 + 2 * 3, 1 + 4 + 9, 4 * 5 + 5 * 6, 16 + 25 + 36});
  check(8192, {6, 15});
  expect_error(tk::status::small_workspace, "workspace", [&] {
    options.workspace_bytes = 16;
    tk::conv1d_backward(x, weight, x, dx, options);
  });
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::tensor_view const x(arena.at(), tk::dl_bf16, {3, 8}),
      weight(arena.at(1024), tk::dl_bf16, {8, 5});
  tk::output_view const y(arena.at(4096), tk::dl_bf16, {3, 8});
  expect_error(tk::status::unsupported, "weight has w = 5", [&] { tk::conv1d(x, weight, y); });
  expect_error(tk::status::null_pointer, "weight is NULL", [&] { tk::conv1d(x, {}, y); });
  CHECK(tk::conv1d_refusal(x, weight, y)->code() == tk::status::unsupported);
  CHECK(tk::conv1d_backward_refusal(x, weight, x, y)->code() == tk::status::unsupported);
}
