// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/add/add_call.hpp"
#include "tests/ops/add/scene.hpp"

using namespace scene;

TEST_CASE("add, scale and cast") {
  constexpr std::size_t at_a = 0, at_b = 4096, at_y = 8192, at_half = 16384;
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) put_fp32(host, at_a + 4 * i, static_cast<float>(i));
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, at_b + 4 * i, 1000);
  arena.write(host);
  tk::tensor_view const a(arena.at(at_a), tk::dl_fp32, {6, 20});
  tk::tensor_view const b(arena.at(at_b), tk::dl_fp32, {1, 20});
  tk::output_view const y(arena.at(at_y), tk::dl_fp32, {6, 20}, {32, 1});
  tk::output_view const half(arena.at(at_half), tk::dl_bf16, {6, 20});
  auto const y_at = [&](std::size_t row, std::size_t col) {
    return fp32_at(arena.content(), at_y + 4 * (32 * row + col));
  };
  CHECK(!tk::add_refusal(a, b, y));
  tk::add(a, b, y);
  CHECK(y_at(5, 19) == 1119);
  CHECK(fp32_at(arena.content(), at_y + 4 * 20) == 0);
  tk::add(a, b, y, {.alpha = 2, .beta = -1});
  CHECK(y_at(5, 19) == 238 - 1000);
  CHECK(!tk::scale_refusal(a, y, 0.5f));
  tk::scale(a, y, 0.5f);
  CHECK(y_at(5, 19) == 59.5f);
  CHECK(!tk::cast_refusal(a, half));
  tk::cast(a, half);
  bytes expected(arena_bytes, 0);
  put_bf16(expected, 0, 119);
  CHECK(arena.content()[at_half + 2 * 119] == expected[0]);
  CHECK(arena.content()[at_half + 2 * 119 + 1] == expected[1]);
  CHECK(tk::cast_refusal(a, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::null_pointer, "b is NULL but beta is 1", [&] { tk::add(a, {}, y); });
  expect_error(tk::status::bad_rank, "y has 3 dimensions where a has 2",
               [&] { tk::cast(a, {arena.at(at_y), tk::dl_fp32, {1, 6, 20}}); });
  CHECK(tk::add_workspace(a, b, y) == 0);
  tk::output_view const large(nullptr, tk::dl_bf16, {256, 256});
  CHECK(tk::add_workspace(large, large, large) == TK_COUNTER_BYTES);
  CHECK(tk::scale_workspace(large, large, 2) == TK_COUNTER_BYTES);
  CHECK(tk::cast_workspace(large, large) == TK_COUNTER_BYTES);
}
