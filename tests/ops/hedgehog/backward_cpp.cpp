// SPDX-License-Identifier: MIT
// The C++ interface of hedgehog_backward.
#include "ops/hedgehog/hedgehog_backward_call.hpp"

#include "tests/ops/hedgehog/backward_scene.hpp"

using namespace scene;

// One token: o is v p / (p + 1e-6), p = beta; beta is 1, so that dv is dout, to a millionth.
TEST_CASE("one token's gradients; all else is optional") {
  constexpr std::size_t row = 256, at_map = 16 * row, at_numbers = at_map + 16384,
                        at_kv = at_numbers + 256;
  memory arena(at_kv + 65536 + 512);
  bytes host(arena.size(), 0);
  for (std::size_t i = 0; i < 5 * row; i += 2) put_bf16(host, i, 1);  // q, k, v, o, dout
  put_fp32(host, at_numbers, 1), put_fp32(host, at_numbers + 4, 1);
  put_fp32(host, at_numbers + 8, 1);
  arena.write(host);
  auto const token = [&](std::size_t nth) {
    return tk::tensor_view(arena.at(nth * row), tk::dl_bf16, {1, 1, 1, 128});
  };
  auto const gradient = [&](std::size_t nth) {
    return tk::output_view(arena.at(nth * row), tk::dl_bf16, {1, 1, 1, 128});
  };
  tk::tensor_view const map(arena.at(at_map), tk::dl_bf16, {1, 128, 64}),
      alpha(arena.at(at_numbers), tk::dl_fp32, {1}),
      beta(arena.at(at_numbers + 4), tk::dl_fp32, {1});
  tk::hedgehog_backward_inputs const in{
      token(0), token(1), token(2),
      token(3), token(4), tk::tensor_view(arena.at(at_numbers + 8), tk::dl_fp32, {1, 1, 1})};
  tk::hedgehog_maps const maps{map, map, alpha, beta};
  tk::hedgehog_backward_outputs out{gradient(5), gradient(6), gradient(7)};
  out.dbeta = {arena.at(at_numbers + 12), tk::dl_fp32, {1}};
  tk::hedgehog_backward_options options;
  memory workspace(tk::hedgehog_backward_workspace(in, out, maps, options));
  options.workspace = workspace.at();
  options.workspace_bytes = workspace.size();
  CHECK(!tk::hedgehog_backward_refusal(in, out, maps, options));
  tk::hedgehog_backward(in, out, maps, options);
  auto const got = arena.content();
  CHECK(std::equal(got.begin() + 4 * row, got.begin() + 5 * row, got.begin() + 7 * row));
  CHECK(bytes(got.begin() + 5 * row, got.begin() + 7 * row) == bytes(2 * row, 0));
  CHECK(fp32_at(got, at_numbers + 12) == 0);  // o is v

  out.dinitial_kv = {arena.at(at_kv), tk::dl_fp32, {1, 1, 128, 128}};
  auto const refused = tk::hedgehog_backward_refusal(in, out, maps, options);
  REQUIRE(refused.has_value());
  CHECK(refused->code() == tk::status::null_pointer);
  expect_error(tk::status::null_pointer, "dinitial_k is NULL",
               [&] { tk::hedgehog_backward(in, out, maps, options); });
}
