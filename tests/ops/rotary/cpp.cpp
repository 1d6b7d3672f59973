// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/rotary/rotary_call.hpp"
#include "tests/ops/rotary/scene.hpp"

using namespace scene;

TEST_CASE("rotary's keys, positions and offsets are optional") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 16; ++i) {
    put_fp32(host, at_q + 4 * i, static_cast<float>(i + 1));
    put_fp32(host, at_k + 4 * i, 1);
  }
  for (std::size_t i = 0; i < 6; ++i) {
    put_fp32(host, at_cos + 4 * i, static_cast<float>(i));
    put_fp32(host, at_sin + 4 * i, 10);
  }
  put_int32(host, at_positions, 2);
  put_int32(host, at_positions + 4, 1);
  arena.write(host);
  // Two tokens of two heads of four columns; three rows of two angles.
  tk::tensor_view const q(arena.at(at_q), tk::dl_fp32, {2, 2, 4});
  tk::tensor_view const k(arena.at(at_k), tk::dl_fp32, {2, 1, 4});
  tk::tensor_view const cos(arena.at(at_cos), tk::dl_fp32, {3, 2});
  tk::tensor_view const sin(arena.at(at_sin), tk::dl_fp32, {3, 2});
  tk::tensor_view const positions(arena.at(at_positions), tk::dl_int32, {2});
  tk::tensor_view const offsets(arena.at(at_positions), tk::dl_int32, {1});
  tk::output_view const q_out(arena.at(at_q_out), tk::dl_fp32, {2, 2, 4});
  tk::output_view const k_out(arena.at(at_k_out), tk::dl_fp32, {2, 1, 4});
  CHECK(!tk::rotary_refusal(q, cos, sin, q_out));
  tk::rotary(q, cos, sin, q_out);
  CHECK(fp32_at(arena.content(), at_q_out) == 0 * 1 - 10 * 3);
  CHECK(fp32_at(arena.content(), at_q_out + 4 * 8) == 2 * 9 - 10 * 11);
  CHECK(fp32_at(arena.content(), at_k_out) == 0);
  tk::rotary(q, cos, sin, q_out,
             {.k = k, .k_out = k_out, .positions = positions, .interleaved = true});
  CHECK(fp32_at(arena.content(), at_q_out) == 4 * 1 - 10 * 2);
  CHECK(fp32_at(arena.content(), at_k_out) == 4 - 10);
  CHECK(fp32_at(arena.content(), at_k_out + 4 * 4) == 2 - 10);
  tk::rotary(q, cos, sin, q_out, {.offsets = offsets, .inverse = true});
  CHECK(fp32_at(arena.content(), at_q_out) == 4 * 1 + 10 * 3);
  CHECK(fp32_at(arena.content(), at_q_out + 4 * 8) == 0);  // there is no row 3
  CHECK(tk::rotary_refusal(q, cos, {}, q_out)->code() == tk::status::null_pointer);
  expect_error(tk::status::null_pointer, "k_out is NULL but k is given",
               [&] { tk::rotary(q, cos, sin, q_out, {.k = k}); });
  CHECK(tk::rotary_workspace(q, cos, sin, q_out) == 0);
  tk::output_view const large(nullptr, tk::dl_fp32, {3, 128, 256});
  CHECK(tk::rotary_workspace(large, cos, sin, large) == TK_COUNTER_BYTES);
}
