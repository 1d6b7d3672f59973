// SPDX-License-Identifier: MIT
// The C++ interface of hedgehog.
#include "ops/hedgehog/hedgehog_call.hpp"

#include "tests/ops/hedgehog/scene.hpp"

using namespace scene;

// Maps of zeros: every feature is 1/64, so that l is alpha/32; keys of zeros: p is beta. Values are
// 1 in the first block, and 0 behind.
TEST_CASE("window, linear part and states of one sequence; all else is optional") {
  constexpr std::int64_t n = 130;
  constexpr std::size_t of_tokens = n * 256, at_v = of_tokens, at_o = 2 * of_tokens,
                        at_map = 3 * of_tokens, at_factors = at_map + 16384,
                        at_kv = at_factors + 64, at_k = at_kv + 65536, size = at_k + 512;
  memory arena(size);
  bytes host(size, 0);
  for (std::size_t i = 0; i < 64 * 128; ++i) put_bf16(host, at_v + 2 * i, 1);
  put_fp32(host, at_factors, 33), put_fp32(host, at_factors + 4, 1);
  arena.write(host);
  std::vector<std::int64_t> const shape{1, n, 1, 128};
  tk::tensor_view const q(arena.at(), tk::dl_bf16, {1, n, 1, 128}),
      k = q, v(arena.at(at_v), tk::dl_bf16, {1, n, 1, 128}),
      map(arena.at(at_map), tk::dl_bf16, {1, 128, 64});
  tk::output_view const o(arena.at(at_o), tk::dl_bf16, {1, n, 1, 128});
  tk::hedgehog_maps const maps{map, map, tk::tensor_view(arena.at(at_factors), tk::dl_fp32, {1}),
                               tk::tensor_view(arena.at(at_factors + 4), tk::dl_fp32, {1})};
  tk::hedgehog_options options;
  auto const run = [&] {
    memory workspace(tk::hedgehog_workspace(q, k, v, o, maps, options) + 1);
    options.workspace = workspace.at();
    options.workspace_bytes = workspace.size() - 1;
    CHECK(!tk::hedgehog_refusal(q, k, v, o, maps, options));
    tk::hedgehog(q, k, v, o, maps, options);
    return arena.content();
  };
  auto const is = [&](bytes const& got, std::int64_t token, float value) {
    bytes expected(2);
    put_bf16(expected, 0, value);
    return std::equal(expected.begin(), expected.end(),
                      got.begin() + std::ptrdiff_t(at_o) + token * 256);
  };
  auto got = run();
  CHECK(is(got, 0, 1));
  CHECK(is(got, 127, 0.5f));  // 64 of 128 in its window
  CHECK(is(got, 129, 0.5f));  // 64 alpha / 32 = 66 of 132
  CHECK(fp32_at(got, at_kv) == 0);
  options.final_kv = {arena.at(at_kv), tk::dl_fp32, {1, 1, 128, 128}};
  options.final_k = {arena.at(at_k), tk::dl_fp32, {1, 1, 128}};
  options.scale = 2.f;
  got = run();
  CHECK(is(got, 129, 0.5f));
  CHECK(fp32_at(got, at_kv + 4 * 1000) == 1);  // 64 of 1/64
  CHECK(fp32_at(got, at_k + 4 * 100) == 1);

  options.final_k = {arena.at(at_k), tk::dl_fp32, {2, 1, 128}};
  auto const refused = tk::hedgehog_refusal(q, k, v, o, maps, options);
  REQUIRE(refused.has_value());
  CHECK(refused->code() == tk::status::bad_shape);
  expect_error(tk::status::bad_shape, "final_k has b = 2",
               [&] { tk::hedgehog(q, k, v, o, maps, options); });
}
