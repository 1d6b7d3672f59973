// SPDX-License-Identifier: MIT
// The C++ interfaces: defaults, refusals as exceptions that carry the status and the sentence of
// the C interface.
#include "ops/fft_conv/fft_conv_backward_call.hpp"
#include "ops/fft_conv/fft_conv_call.hpp"
#include "tests/ops/fft_conv/backward_scene.hpp"

using namespace scene;

namespace {

float bf16_at(bytes const& host, std::size_t at) {
  std::uint32_t const bits = static_cast<std::uint32_t>(host[at] | host[at + 1] << 8) << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

}  // namespace

TEST_CASE("a convolution of ones, and its gradients") {
  memory arena(arena_bytes);
  auto host = ones(at_k);
  for (std::size_t i = 0; i < 7; ++i) put_fp32(host, at_k + 4 * i, 1);
  for (std::size_t i = 0; i < 80; ++i) put_bf16(host, at_dy + 2 * i, 1);
  arena.write(host);
  tk::tensor_view const u(arena.at(at_u), tk::dl_bf16, {2, 2, 20}),
      k(arena.at(at_k), tk::dl_fp32, {2, 7}), dy(arena.at(at_dy), tk::dl_bf16, {2, 2, 20});
  tk::tensor_view const shared(arena.at(at_k), tk::dl_fp32, {1, 7});
  tk::output_view const y(arena.at(at_y), tk::dl_bf16, {2, 2, 20});
  tk::fft_conv_options options;
  CHECK(!tk::fft_conv_refusal(u, shared, y, options));
  memory workspace(tk::fft_conv_workspace(u, k, y, options));
  options.workspace = workspace.at();
  options.workspace_bytes = workspace.size();
  tk::fft_conv(u, shared, y, options);
  host = arena.content();
  CHECK(bf16_at(host, at_y) == 1);
  CHECK(bf16_at(host, at_y + 2 * 59) == 7);
  options.circular = true;
  tk::fft_conv(u, shared, y, options);
  CHECK(bf16_at(arena.content(), at_y) == 7);

  tk::output_view const du(arena.at(at_du), tk::dl_bf16, {2, 2, 20}),
      dk(arena.at(at_dk), tk::dl_fp32, {1, 7});
  tk::fft_conv_backward_options backward;
  CHECK(!tk::fft_conv_backward_refusal(u, shared, dy, du, dk, backward));
  memory more(tk::fft_conv_backward_workspace(u, shared, dy, du, dk, backward));
  backward.workspace = more.at();
  backward.workspace_bytes = more.size();
  tk::fft_conv_backward(u, shared, dy, du, dk, backward);
  host = arena.content();
  CHECK(bf16_at(host, at_du) == 7);
  CHECK(bf16_at(host, at_du + 2 * 19) == 1);
  for (std::size_t j = 0; j < 7; ++j)
    CHECK(std::abs(fp32_at(host, at_dk + 4 * j) - 4 * (20 - float(j))) < 0.01f);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const y(arena.at(8192), tk::dl_fp32, {8, 24});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  expect_error(tk::status::bad_rank, "u has 1 dimensions", [&] { tk::fft_conv(flat, flat, y); });
  expect_error(tk::status::null_pointer, "u is NULL", [&] { tk::fft_conv({}, flat, y); });
  CHECK(tk::fft_conv_refusal(flat, flat, y)->code() == tk::status::bad_rank);
  expect_error(tk::status::bad_rank, "u has 1 dimensions",
               [&] { tk::fft_conv_backward(flat, flat, flat, y, y); });
  CHECK(tk::fft_conv_backward_refusal({}, flat, flat, y, y)->code() == tk::status::null_pointer);
}
