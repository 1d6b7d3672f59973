// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/attention/attention_forward_call.hpp"

#include <cmath>

#include "tests/ops/attention/scene.hpp"

using namespace scene;

constexpr std::size_t at_q = 0, at_k = 4096, at_v = 8192, at_o = 12288, at_lse = 16384;

TEST_CASE("attention's scale is 1 / sqrt(d) unless said, and lse is optional") {
  memory arena(arena_bytes);
  arena.write(ones(at_o));
  tk::tensor_view const q(arena.at(at_q), tk::dl_bf16, {2, 5, 4, 16});
  tk::tensor_view const k(arena.at(at_k), tk::dl_bf16, {2, 7, 2, 16});
  tk::tensor_view const v(arena.at(at_v), tk::dl_bf16, {2, 7, 2, 24});
  tk::output_view const o(arena.at(at_o), tk::dl_bf16, {2, 5, 4, 24});
  tk::attention_forward_options options;
  auto const needed = tk::attention_forward_workspace(q, k, v, o, options);
  memory workspace(needed + 1);
  options.workspace = workspace.at();
  options.workspace_bytes = needed;
  CHECK(!tk::attention_forward_refusal(q, k, v, o, options));
  tk::attention_forward(q, k, v, o, options);
  CHECK(arena.content()[at_o] == 0x80);  // 1 in bf16 is 0x3f80
  CHECK(arena.content()[at_o + 1] == 0x3f);
  CHECK(fp32_at(arena.content(), at_lse) == 0);

  // 7 keys of score d * scale each: lse = 16 scale + ln 7. The margin only tells scales apart.
  options.lse = {arena.at(at_lse), tk::dl_fp32, {2, 4, 5}};
  tk::attention_forward(q, k, v, o, options);
  CHECK(std::abs(fp32_at(arena.content(), at_lse) - (4 + std::log(7.f))) < 0.01f);
  options.scale = 0.5f;
  tk::attention_forward(q, k, v, o, options);
  CHECK(std::abs(fp32_at(arena.content(), at_lse) - (8 + std::log(7.f))) < 0.01f);
}

TEST_CASE("options of attention") {
  memory arena(arena_bytes);
  arena.write(ones(at_o));
  tk::tensor_view const q(arena.at(at_q), tk::dl_bf16, {2, 5, 4, 16});
  tk::tensor_view const k(arena.at(at_k), tk::dl_bf16, {2, 7, 2, 16});
  tk::tensor_view const v(arena.at(at_v), tk::dl_bf16, {2, 7, 2, 24});
  tk::output_view const o(arena.at(at_o), tk::dl_bf16, {2, 5, 4, 24});
  tk::attention_forward_options options;
  options.lse = {arena.at(at_lse), tk::dl_fp32, {2, 4, 5}};
  options.more.window_left = 1;
  options.more.window_right = 0;
  memory workspace(tk::attention_forward_workspace(q, k, v, o, options));
  options.workspace = workspace.at();
  options.workspace_bytes = workspace.size();
  tk::attention_forward(q, k, v, o, options);
  // Each row sees two keys of score 4. The margin only tells windows apart.
  CHECK(std::abs(fp32_at(arena.content(), at_lse) - (4 + std::log(2.f))) < 0.01f);
  tk::tensor_view const slopes(arena.at(at_q), tk::dl_fp32, {3});
  options.more.alibi = slopes;
  auto const refused = tk::attention_forward_refusal(q, k, v, o, options);
  REQUIRE(refused.has_value());
  CHECK(refused->code() == tk::status::bad_shape);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const o(arena.at(8192), tk::dl_fp32, {8, 24});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  expect_error(tk::status::bad_rank, "q has 1 dimensions",
               [&] { tk::attention_forward(flat, flat, flat, o); });
  expect_error(tk::status::null_pointer, "q is NULL",
               [&] { tk::attention_forward({}, flat, flat, o); });
  CHECK(tk::attention_forward_refusal(flat, flat, flat, o)->code() == tk::status::bad_rank);
}
