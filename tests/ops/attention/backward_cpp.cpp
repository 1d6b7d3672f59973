// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface; and the backward behind the forward, as it is used.
#include "ops/attention/attention_backward_call.hpp"

#include <cmath>

#include "tests/ops/attention/backward_scene.hpp"

using namespace scene;

TEST_CASE("the backward takes what the forward gave") {
  // Equal keys: p is 1/4 for each. v is the key's number, dout 1: dp = 16 v, delta = 16 mean(v),
  // ds = (dp - delta) / 4; dq = scale sum ds k = 0, dk = scale ds q, dv = 1/4.
  constexpr std::int64_t n = 4, d = 16;
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  auto const place = [&](std::size_t at) { return arena.at(2048 * at); };
  for (std::size_t i = 0; i < n * d; ++i) {
    put_bf16(host, 2 * i, 1);                                 // q
    put_bf16(host, 2048 + 2 * i, 0.5f);                       // k
    put_bf16(host, 4096 + 2 * i, static_cast<float>(i / d));  // v
    put_bf16(host, 5 * 2048 + 2 * i, 1);                      // dout
  }
  arena.write(host);
  auto const view = [&](std::size_t at) {
    return tk::tensor_view(place(at), tk::dl_bf16, {1, n, 1, d});
  };
  auto const output = [&](std::size_t at) {
    return tk::output_view(place(at), tk::dl_bf16, {1, n, 1, d});
  };
  tk::attention_forward(view(0), view(1), view(2), output(3),
                        {.lse = {place(4), tk::dl_fp32, {1, 1, n}}});
  tk::attention_backward_inputs const in{
      view(0), view(1), view(2), view(3), {place(4), tk::dl_fp32, {1, 1, n}}, view(5)};
  tk::attention_backward_outputs const out{output(6), output(7), output(8)};
  tk::attention_backward_options options;
  auto const needed = tk::attention_backward_workspace(in, out, options);
  REQUIRE(needed > 0);
  memory workspace(needed);
  options.workspace = workspace.at();
  options.workspace_bytes = needed;
  CHECK(!tk::attention_backward_refusal(in, out, options));
  auto const element = [&](std::size_t tensor, std::size_t row) {
    auto const all = arena.content();
    std::size_t const at = 2048 * tensor + 2 * d * row;
    std::uint32_t const bits = std::uint32_t(all[at] | all[at + 1] << 8) << 16;
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  };
  auto const check = [&](float scale) {
    for (std::size_t row = 0; row < n; ++row) {
      // The margins are some roundings of p and ds to bf16.
      CHECK(std::abs(element(6, row)) < 0.02f * scale);
      float const ds = 4 * (static_cast<float>(row) - 1.5f);
      CHECK(std::abs(element(7, row) - scale * 4 * ds) < 0.02f * scale * std::abs(4 * ds));
      CHECK(std::abs(element(8, row) - 1) < 0.01f);
    }
  };
  tk::attention_backward(in, out, options);
  check(0.25f);  // 1 / sqrt(16), as in the forward
  options.scale = 0.5f;
  tk::attention_forward(view(0), view(1), view(2), output(3),
                        {.lse = {place(4), tk::dl_fp32, {1, 1, n}}, .scale = 0.5f});
  tk::attention_backward(in, out, options);
  check(0.5f);
}

TEST_CASE("options, and their gradients") {
  // As above, with a bias of 0 and a sink of ln 4: p = 1/8, o = 0.75, delta = 12; dbias = p (16 v -
  // delta), dsinks = -sum over rows of 4/8 delta.
  constexpr std::int64_t n = 4, d = 16;
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  auto const place = [&](std::size_t at) { return arena.at(2048 * at); };
  for (std::size_t i = 0; i < n * d; ++i) {
    put_bf16(host, 2048 * 2 + 2 * i, static_cast<float>(i / d));  // v
    put_bf16(host, 2048 * 5 + 2 * i, 1);                          // dout
  }
  float const sink = std::log(4.f);
  std::memcpy(host.data() + 2048 * 9, &sink, sizeof sink);
  arena.write(host);
  auto const view = [&](std::size_t at) {
    return tk::tensor_view(place(at), tk::dl_bf16, {1, n, 1, d});
  };
  auto const output = [&](std::size_t at) {
    return tk::output_view(place(at), tk::dl_bf16, {1, n, 1, d});
  };
  tk::attention_options const more{.bias = {place(10), tk::dl_fp32, {1, 1, n, n}},
                                   .sinks = {place(9), tk::dl_fp32, {1}}};
  memory counters(
      tk::attention_forward_workspace(view(0), view(1), view(2), output(3), {.more = more}));
  tk::attention_forward(view(0), view(1), view(2), output(3),
                        {.lse = {place(4), tk::dl_fp32, {1, 1, n}},
                         .workspace = counters.at(),
                         .workspace_bytes = TK_COUNTER_BYTES,
                         .more = more});
  tk::attention_backward_inputs const in{
      view(0), view(1), view(2), view(3), {place(4), tk::dl_fp32, {1, 1, n}}, view(5)};
  tk::attention_backward_outputs const out{output(6),
                                           output(7),
                                           output(8),
                                           {place(11), tk::dl_fp32, {1, 1, n, n}},
                                           {place(12), tk::dl_fp32, {1}}};
  tk::attention_backward_options options{.more = more};
  auto const needed = tk::attention_backward_workspace(in, out, options);
  memory workspace(needed);
  options.workspace = workspace.at();
  options.workspace_bytes = needed;
  tk::attention_backward(in, out, options);
  auto const after = arena.content();
  auto const number = [&](std::size_t at, std::size_t i) {
    float x;
    std::memcpy(&x, after.data() + 2048 * at + 4 * i, sizeof x);
    return x;
  };
  for (std::size_t i = 0; i < n * n; ++i)
    CHECK(std::abs(number(11, i) - (2 * static_cast<float>(i % n) - 1.5f)) < 1e-4f);
  CHECK(std::abs(number(12, 0) + 24) < 1e-4f);
}

TEST_CASE("refusals are exceptions, or optional errors") {
  memory arena(arena_bytes);
  tk::output_view const o(arena.at(8192), tk::dl_fp32, {8, 24});
  tk::tensor_view const flat(arena.at(), tk::dl_bf16, {16});
  tk::attention_backward_inputs const in{flat, flat, flat, flat, flat, flat};
  expect_error(tk::status::bad_rank, "q has 1 dimensions",
               [&] { tk::attention_backward(in, {o, o, o}); });
  expect_error(tk::status::null_pointer, "q is NULL",
               [&] { tk::attention_backward({}, {o, o, o}); });
  CHECK(tk::attention_backward_refusal(in, {o, o, o})->code() == tk::status::bad_rank);
}
