// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/linear_attention/linear_attention_call.hpp"

#include "tests/ops/linear_attention/scene.hpp"

using namespace scene;

TEST_CASE("linear attention's scale is 1 / sqrt(d) unless said, and all else is optional") {
  // Ones, d = 16: o of token t = 0, 1, ... is 16 scale (t + 1) where nothing decays, S_5 is 5.
  memory arena(arena_bytes);
  arena.write(ones(at_o));
  tk::tensor_view const q(arena.at(at_q), tk::dl_bf16, {2, 5, 2, 16});
  tk::tensor_view const k(arena.at(at_k), tk::dl_bf16, {2, 5, 2, 16});
  tk::tensor_view const v(arena.at(at_v), tk::dl_bf16, {2, 5, 2, 32});
  tk::output_view const o(arena.at(at_o), tk::dl_bf16, {2, 5, 2, 32});
  tk::linear_attention_options options;
  auto const run = [&](float first, float last) {
    memory workspace(tk::linear_attention_workspace(q, k, v, o, options) + 1);
    options.workspace = workspace.at();
    options.workspace_bytes = workspace.size() - 1;
    CHECK(!tk::linear_attention_refusal(q, k, v, o, options));
    tk::linear_attention(q, k, v, o, options);
    auto const host = arena.content();
    bytes expected(4);
    put_bf16(expected, 0, first);
    put_bf16(expected, 2, last);
    CHECK(std::equal(expected.begin(), expected.begin() + 2, host.begin() + at_o));
    CHECK(std::equal(expected.begin() + 2, expected.end(), host.begin() + at_o + 4 * 128));
    return fp32_at(host, at_final);
  };
  CHECK(run(4, 20) == 0);
  options.final_state = {arena.at(at_final), tk::dl_fp32, {2, 2, 16, 32}};
  CHECK(run(4, 20) == 5);
  options.scale = 0.5f;
  CHECK(run(8, 40) == 5);

  auto host = arena.content();
  for (std::size_t i = 0; i < 2 * 2 * 16 * 32; ++i) put_fp32(host, at_initial + 4 * i, 2);
  for (std::size_t i = 0; i < 2; ++i) put_fp32(host, at_decay + 4 * i, 1000);
  arena.write(host);
  options.initial_state = {arena.at(at_initial), tk::dl_fp32, {2, 2, 16, 32}};
  CHECK(run(24, 56) == 7);
  options.log_decay = {arena.at(at_log_decay), tk::dl_fp32, {2, 5, 2}};  // zeros
  CHECK(run(24, 56) == 7);
  options.log_decay = {};
  options.decay = {arena.at(at_decay), tk::dl_fp32, {2}};  // nothing is kept
  CHECK(run(8, 8) == 1);
}

TEST_CASE("packed sequences") {
  memory arena(arena_bytes);
  auto host = ones(at_o);
  put_int32(host, at_starts + 4, 4);
  put_int32(host, at_starts + 8, 10);
  arena.write(host);
  tk::tensor_view const q(arena.at(at_q), tk::dl_bf16, {10, 2, 16});
  tk::tensor_view const k(arena.at(at_k), tk::dl_bf16, {10, 2, 16});
  tk::tensor_view const v(arena.at(at_v), tk::dl_bf16, {10, 2, 32});
  tk::output_view const o(arena.at(at_o), tk::dl_bf16, {10, 2, 32});
  tk::linear_attention_options options;
  options.final_state = {arena.at(at_final), tk::dl_fp32, {2, 2, 16, 32}};
  options.starts = {arena.at(at_starts), tk::dl_int32, {3}};
  memory workspace(tk::linear_attention_workspace(q, k, v, o, options) + 1);
  options.workspace = workspace.at();
  options.workspace_bytes = workspace.size() - 1;
  tk::linear_attention(q, k, v, o, options);
  CHECK(fp32_at(arena.content(), at_final) == 4);
  CHECK(fp32_at(arena.content(), at_final + 4 * 2 * 16 * 32) == 6);
  options.final_state = {arena.at(at_final), tk::dl_fp32, {3, 2, 16, 32}};
  auto const refused = tk::linear_attention_refusal(q, k, v, o, options);
  REQUIRE(refused.has_value());
  CHECK(refused->code() == tk::status::bad_shape);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const o(arena.at(8192), tk::dl_fp32, {8, 24});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  expect_error(tk::status::bad_rank, "q has 1 dimensions",
               [&] { tk::linear_attention(flat, flat, flat, o); });
  expect_error(tk::status::null_pointer, "q is NULL",
               [&] { tk::linear_attention({}, flat, flat, o); });
  CHECK(tk::linear_attention_refusal(flat, flat, flat, o)->code() == tk::status::bad_rank);
}
