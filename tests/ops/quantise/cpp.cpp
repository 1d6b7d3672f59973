// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/quantise/quantise_call.hpp"
#include "tests/ops/quantise/scene.hpp"

using namespace scene;

TEST_CASE("quantise is by rows unless said") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 6 * 20; ++i)
    put_fp32(host, at_x + 4 * i, 448.f * static_cast<float>(1 + i / 20));
  arena.write(host);
  tk::tensor_view const x(arena.at(at_x), tk::dl_fp32, {6, 20});
  tk::output_view const y(arena.at(at_y), tk::dl_fp8_e4m3, {6, 20}, {32, 1});
  tk::output_view const scale(arena.at(at_scale), tk::dl_fp32, {6});
  CHECK(!tk::quantise_refusal(x, y, scale));
  tk::quantise(x, y, scale);
  CHECK(fp32_at(arena.content(), at_scale + 4 * 5) == 6);
  CHECK(arena.content()[at_y + 5 * 32 + 19] == 0x7e);
  CHECK(arena.content()[at_y + 20] == 0);
  tk::quantise(x, y, scale, {.power_of_two = true});
  CHECK(fp32_at(arena.content(), at_scale + 4 * 5) == 8);
  tk::output_view const blocks(arena.at(at_scale), tk::dl_fp32, {6, 1});
  tk::quantise(x, y, blocks, {.kind = TK_SCALE_1X128});
  CHECK(fp32_at(arena.content(), at_scale + 4 * 5) == 6);
  tk::tensor_view const one(arena.at(at_scale), tk::dl_fp32, {1});
  tk::quantise(x, y, one, {.kind = TK_SCALE_GIVEN});
  CHECK(arena.content()[at_y + 3 * 32] == 0x7e);  // 1792 saturates
  CHECK(tk::quantise_refusal(x, y, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::bad_rank, "scale has 2 dimensions where x has 2; it must have 1",
               [&] { tk::quantise(x, y, blocks); });
  CHECK(tk::quantise_workspace(x, y, scale) == 0);
  tk::tensor_view const large(nullptr, tk::dl_bf16, {256, 256});
  tk::output_view const large_y(nullptr, tk::dl_fp8_e5m2, {256, 256});
  CHECK(tk::quantise_workspace(large, large_y, {nullptr, tk::dl_fp32, {256}}) == TK_COUNTER_BYTES);
  // Of 8 parts of 8192.
  CHECK(tk::quantise_workspace(large, large_y, one, {.kind = TK_SCALE_TENSOR}) ==
        TK_COUNTER_BYTES + 8 * 4);
}
