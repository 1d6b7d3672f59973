// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/norm/norm_call.hpp"

#include <cmath>

#include "tests/ops/norm/scene.hpp"

using namespace scene;

constexpr std::size_t at_q = 0, at_k = 4096, at_o = 12288;

TEST_CASE("norm's operands are optional, eps is 1e-5 unless said") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 6 * 20; ++i) put_fp32(host, at_q + 4 * i, i % 2 ? 3 : 1);
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, at_k + 4 * i, 8);
  arena.write(host);
  tk::tensor_view const x(arena.at(at_q), tk::dl_fp32, {6, 20});
  tk::output_view const y(arena.at(at_o), tk::dl_fp32, {6, 20}, {32, 1});
  CHECK(!tk::norm_refusal(x, y));
  tk::norm(x, y);
  CHECK(std::abs(fp32_at(arena.content(), at_o) + 1) < 1e-4f);
  tk::norm(x, y, {.weight = {arena.at(at_k), tk::dl_fp32, {20}}, .kind = TK_NORM_RMS, .eps = 11});
  CHECK(std::abs(fp32_at(arena.content(), at_o) - 2) < 1e-5f);
  CHECK(std::abs(fp32_at(arena.content(), at_o + 5 * 32 * 4 + 4) - 6) < 1e-5f);
  CHECK(fp32_at(arena.content(), at_o + 20 * 4) == 0);
  tk::output_view const fp8(arena.at(at_o), tk::dl_fp8_e4m3, {6, 20});
  tk::output_view const scale(arena.at(at_k), tk::dl_fp32, {6});
  CHECK(tk::norm_refusal(x, fp8)->code() == tk::status::bad_type);  // x is fp32
  tk::tensor_view const half(arena.at(at_q), tk::dl_bf16, {6, 20});
  CHECK(tk::norm_refusal(half, fp8)->code() == tk::status::null_pointer);
  tk::norm(half, fp8, {.y_scale = scale, .power_of_two = true});
  CHECK(fp32_at(arena.content(), at_k) > 0);
  CHECK(tk::norm_refusal(half, fp8, {.y_scale = scale, .y_scale_kind = TK_SCALE_GIVEN})->code() ==
        tk::status::bad_shape);
  // Rows of three dimensions: every other pair of x's, one after another.
  tk::tensor_view const part(arena.at(at_q), tk::dl_fp32, {2, 2, 20}, {60, 20, 1});
  tk::norm(part, {arena.at(at_o), tk::dl_fp32, {2, 2, 20}}, {.kind = TK_NORM_RMS, .eps = 11});
  CHECK(std::abs(fp32_at(arena.content(), at_o + 79 * 4) - 0.75f) < 1e-6f);
  CHECK(tk::norm_refusal(part, y)->code() == tk::status::bad_shape);
  CHECK(tk::norm_refusal(x, {})->code() == tk::status::null_pointer);
  CHECK(tk::norm_workspace(x, y) == 0);
  CHECK(tk::norm_workspace({nullptr, tk::dl_bf16, {256, 256}},
                           {nullptr, tk::dl_bf16, {256, 256}}) == TK_COUNTER_BYTES);
}
