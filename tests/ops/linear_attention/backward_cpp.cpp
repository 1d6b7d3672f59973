// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/linear_attention/linear_attention_backward_call.hpp"

#include "tests/ops/linear_attention/backward_scene.hpp"

using namespace scene;

TEST_CASE("gradients of ones, with and without what is optional") {
  // Ones, of five tokens, d = 16, dv = 32; nothing decays. S_t is t, D_t is scale (6 - t) where no
  // gradient comes from behind: dq is 32 scale t, dk 32 D_t, dv 16 D_t.
  memory arena(arena_bytes);
  arena.write(ones(at_dq));
  auto const input = [&](std::size_t at, std::int64_t width) {
    return tk::tensor_view(arena.at(at), tk::dl_bf16, {2, 5, 2, width});
  };
  auto const output = [&](std::size_t at, std::int64_t width) {
    return tk::output_view(arena.at(at), tk::dl_bf16, {2, 5, 2, width});
  };
  tk::linear_attention_backward_inputs const in{input(at_q, 16), input(at_k, 16), input(at_v, 32),
                                                input(at_dout, 32)};
  tk::linear_attention_backward_outputs out{output(at_dq, 16), output(at_dk, 16),
                                            output(at_dv, 32)};
  tk::linear_attention_backward_options options;
  struct ends {
    float first, last;
  };
  auto const run = [&](ends dq, ends dk, ends dv) {
    memory workspace(tk::linear_attention_backward_workspace(in, out, options) + 1);
    options.workspace = workspace.at();
    options.workspace_bytes = workspace.size() - 1;
    CHECK(!tk::linear_attention_backward_refusal(in, out, options));
    tk::linear_attention_backward(in, out, options);
    auto const host = arena.content();
    auto const is = [&](std::size_t at, std::size_t token_bytes, ends const& x) {
      bytes expected(4);
      put_bf16(expected, 0, x.first);
      put_bf16(expected, 2, x.last);
      auto const from = host.begin() + std::ptrdiff_t(at);
      auto const last = from + std::ptrdiff_t(4 * token_bytes);
      CHECK(std::equal(expected.begin(), expected.begin() + 2, from));
      CHECK(std::equal(expected.begin() + 2, expected.end(), last));
    };
    is(at_dq, 64, dq);
    is(at_dk, 64, dk);
    is(at_dv, 128, dv);
    return fp32_at(host, at_dinitial);
  };
  CHECK(run({8, 40}, {40, 8}, {20, 4}) == 0);
  out.dinitial_state = {arena.at(at_dinitial), tk::dl_fp32, {2, 2, 16, 32}};
  CHECK(run({8, 40}, {40, 8}, {20, 4}) == 1.25f);
  options.scale = 0.5f;
  CHECK(run({16, 80}, {80, 16}, {40, 8}) == 2.5f);

  auto host = arena.content();
  for (std::size_t i = 0; i < 2 * 2 * 16 * 32; ++i) {
    put_fp32(host, at_initial + 4 * i, 2);
    put_fp32(host, at_dfinal + 4 * i, 1);
  }
  for (std::size_t i = 0; i < 2; ++i) put_fp32(host, at_decay + 4 * i, 1000);
  arena.write(host);
  options.initial_state = {arena.at(at_initial), tk::dl_fp32, {2, 2, 16, 32}};
  CHECK(run({48, 112}, {80, 16}, {40, 8}) == 2.5f);
  options.dfinal_state = {arena.at(at_dfinal), tk::dl_fp32, {2, 2, 16, 32}};
  CHECK(run({48, 112}, {112, 48}, {56, 24}) == 3.5f);
  options.log_decay = {arena.at(at_log_decay), tk::dl_fp32, {2, 5, 2}};  // zeros
  CHECK(run({48, 112}, {112, 48}, {56, 24}) == 3.5f);
  out.dlog_decay = {arena.at(at_dlog_decay), tk::dl_fp32, {2, 5, 2}};
  CHECK(run({48, 112}, {112, 48}, {56, 24}) == 3.5f);
  CHECK(fp32_at(arena.content(), at_dlog_decay) == 512 * 2 * 3.5f);  // a token's S and D are alike
  CHECK(fp32_at(arena.content(), at_dlog_decay + 18 * 4) == 512 * 6 * 1.5f);
  out.dlog_decay = {};
  options.log_decay = {};
  options.decay = {arena.at(at_decay), tk::dl_fp32, {2}};  // nothing is kept
  CHECK(run({16, 16}, {16, 48}, {8, 24}) == 0);
  host = arena.content();
  for (std::size_t i = 0; i < 2; ++i) put_fp32(host, at_decay + 4 * i, 0);
  arena.write(host);
  out.ddecay = {arena.at(at_ddecay), tk::dl_fp32, {2}};
  CHECK(run({48, 112}, {112, 48}, {56, 24}) == 3.5f);
  CHECK(fp32_at(arena.content(), at_ddecay) == -2 * 512 * 45.f);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const o(arena.at(8192), tk::dl_fp32, {8, 24});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  tk::linear_attention_backward_inputs const in{flat, flat, flat, flat};
  expect_error(tk::status::bad_rank, "q has 1 dimensions",
               [&] { tk::linear_attention_backward(in, {o, o, o}); });
  expect_error(tk::status::null_pointer, "q is NULL",
               [&] { tk::linear_attention_backward({}, {o, o, o}); });
  CHECK(tk::linear_attention_backward_refusal(in, {o, o, o})->code() == tk::status::bad_rank);
}
