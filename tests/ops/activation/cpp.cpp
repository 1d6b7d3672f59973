// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include <cmath>

#include "ops/activation/activation_backward_call.hpp"
#include "ops/activation/activation_call.hpp"
#include "tests/ops/activation/scene.hpp"

using namespace scene;

constexpr std::size_t at_a = 0, at_b = 4096, at_dy = 8192, at_y = 12288, at_db = 20480;

// a is -2 and 3 in turn, b 5, dy 0.5.
bytes known_numbers() {
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 6 * 20; ++i) {
    put_fp32(host, at_a + 4 * i, i % 2 ? 3 : -2);
    put_fp32(host, at_b + 4 * i, 5);
    put_fp32(host, at_dy + 4 * i, 0.5);
  }
  return host;
}

TEST_CASE("activation's b is optional") {
  memory arena(arena_bytes);
  arena.write(known_numbers());
  tk::tensor_view const a(arena.at(at_a), tk::dl_fp32, {6, 20});
  tk::tensor_view const b(arena.at(at_b), tk::dl_fp32, {6, 20});
  tk::output_view const y(arena.at(at_y), tk::dl_fp32, {6, 20}, {32, 1});
  CHECK(!tk::activation_refusal(TK_ACTIVATION_RELU, a, y));
  tk::activation(TK_ACTIVATION_RELU, a, y);
  CHECK(fp32_at(arena.content(), at_y) == 0);
  CHECK(fp32_at(arena.content(), at_y + 4) == 3);
  tk::activation(TK_ACTIVATION_SILU, a, y, {.b = b});
  CHECK(std::abs(fp32_at(arena.content(), at_y + 5 * 32 * 4) + 10 / (1 + std::exp(2.))) < 1e-6);
  CHECK(fp32_at(arena.content(), at_y + 20 * 4) == 0);
  CHECK(tk::activation_refusal(TK_ACTIVATION_RELU, a, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::bad_rank, "y has 3 dimensions where a has 2", [&] {
    tk::activation(TK_ACTIVATION_RELU, a, {arena.at(at_y), tk::dl_fp32, {1, 6, 20}});
  });
  CHECK(tk::activation_workspace(TK_ACTIVATION_RELU, a, y) == 0);
  auto host = known_numbers();
  for (std::size_t i = 0; i < 20; ++i) put_bf16(host, at_b + 2 * i, i % 2 ? 5 : 3);
  arena.write(host);
  tk::tensor_view const pairs(arena.at(at_b), tk::dl_bf16, {20});
  tk::output_view const of_pairs(arena.at(at_y), tk::dl_bf16, {10});
  tk::activation(TK_ACTIVATION_RELU, pairs, of_pairs, {.interleaved = true});
  put_bf16(host, 0, 15);
  CHECK(arena.content()[at_y] == host[0]);
  CHECK(arena.content()[at_y + 19] == host[1]);
  CHECK(tk::activation_refusal(TK_ACTIVATION_RELU, pairs, of_pairs)->code() ==
        tk::status::bad_shape);
  tk::output_view const large(nullptr, tk::dl_bf16, {256, 256});
  CHECK(tk::activation_workspace(TK_ACTIVATION_RELU, large, large) == TK_COUNTER_BYTES);
}

TEST_CASE("activation's backward: b and either gradient are optional") {
  memory arena(arena_bytes);
  arena.write(known_numbers());
  tk::tensor_view const a(arena.at(at_a), tk::dl_fp32, {6, 20});
  tk::tensor_view const b(arena.at(at_b), tk::dl_fp32, {6, 20});
  tk::tensor_view const dy(arena.at(at_dy), tk::dl_fp32, {6, 20});
  tk::output_view const da(arena.at(at_y), tk::dl_fp32, {6, 20});
  tk::output_view const db(arena.at(at_db), tk::dl_fp32, {6, 20}, {24, 1});
  constexpr auto kind = TK_ACTIVATION_RELU;
  CHECK(!tk::activation_backward_refusal(kind, a, dy, da));
  tk::activation_backward(kind, a, dy, da);
  CHECK(fp32_at(arena.content(), at_y + 4) == 0.5);
  CHECK(fp32_at(arena.content(), at_db + 4) == 0);
  tk::activation_backward(kind, a, dy, da, {.b = b, .db = db});
  CHECK(fp32_at(arena.content(), at_y) == 0);
  CHECK(fp32_at(arena.content(), at_y + 4) == 2.5);
  CHECK(fp32_at(arena.content(), at_db + 4 * 25) == 1.5);
  CHECK(!tk::activation_backward_refusal(kind, a, dy, {}, {.b = b, .db = db}));
  CHECK(tk::activation_backward_refusal(kind, a, dy, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::null_pointer, "b is NULL but db is given",
               [&] { tk::activation_backward(kind, a, dy, da, {.db = db}); });
  CHECK(tk::activation_backward_workspace(kind, a, dy, da) == 0);
  auto host = known_numbers();
  for (std::size_t i = 0; i < 20; ++i) put_bf16(host, at_b + 2 * i, i % 2 ? 5 : 3);
  put_bf16(host, at_dy, 0.5);
  arena.write(host);
  tk::activation_backward(kind, {arena.at(at_b), tk::dl_bf16, {20}},
                          {arena.at(at_dy), tk::dl_bf16, {10}},
                          {arena.at(at_db), tk::dl_bf16, {20}}, {.interleaved = true});
  put_bf16(host, 0, 2.5);
  put_bf16(host, 2, 1.5);
  auto const got = arena.content();
  CHECK(std::equal(host.begin(), host.begin() + 4, got.begin() + at_db));
  tk::output_view const large(nullptr, tk::dl_bf16, {256, 256});
  CHECK(tk::activation_backward_workspace(kind, large, large, large) == TK_COUNTER_BYTES);
}
