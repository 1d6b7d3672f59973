// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/transpose/transpose_call.hpp"
#include "tests/ops/transpose/scene.hpp"

using namespace scene;

TEST_CASE("transpose") {
  constexpr std::size_t at_y = 8192;
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 120; ++i) put_fp32(host, 4 * i, static_cast<float>(i));
  arena.write(host);
  tk::tensor_view const x(arena.at(), tk::dl_fp32, {6, 20});
  tk::output_view const y(arena.at(at_y), tk::dl_fp32, {20, 6}, {8, 1});
  CHECK(!tk::transpose_refusal(x, y));
  tk::transpose(x, y);
  CHECK(fp32_at(arena.content(), at_y + 4 * (8 * 19 + 5)) == 119);
  CHECK(fp32_at(arena.content(), at_y + 4 * (8 * 3 + 1)) == 23);
  CHECK(fp32_at(arena.content(), at_y + 4 * 6) == 0);
  CHECK(tk::transpose_workspace(x, y) == 0);
  CHECK(tk::transpose_refusal(x, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::bad_shape, "y has m = 6 where x has m = 20",
               [&] { tk::transpose(x, {arena.at(at_y), tk::dl_fp32, {6, 20}}); });
}
