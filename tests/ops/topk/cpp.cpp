// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/topk/topk_call.hpp"
#include "tests/ops/topk/scene.hpp"

using namespace scene;

TEST_CASE("topk and argmax, the largest unless said") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  float const numbers[] = {3, -1, 7, 7, 0, -2};
  for (std::size_t i = 0; i < 6; ++i) put_fp32(host, at_x + 4 * i, numbers[i]);
  arena.write(host);
  auto const index = [&](std::size_t i) {
    std::int32_t x = 0;
    std::memcpy(&x, &arena.content()[at_indices + 4 * i], sizeof x);
    return x;
  };
  tk::tensor_view const x(arena.at(at_x), tk::dl_fp32, {2, 3});
  tk::output_view const values(arena.at(at_values), tk::dl_fp32, {2, 2});
  tk::output_view const indices(arena.at(at_indices), tk::dl_int32, {2, 2});
  tk::output_view const first(arena.at(at_indices), tk::dl_int32, {2, 1});
  CHECK(!tk::topk_refusal(x, values, indices));
  CHECK(tk::topk_workspace(x, values, indices) == 0);
  tk::topk(x, values, indices);
  CHECK(fp32_at(arena.content(), at_values) == 7);
  CHECK(fp32_at(arena.content(), at_values + 4) == 3);
  CHECK(index(0) == 2);
  CHECK(index(3) == 1);
  tk::argmax(x, first);
  CHECK(index(0) == 2);
  CHECK(index(1) == 0);
  tk::argmax(x, first, {.smallest = true});
  CHECK(index(0) == 1);
  CHECK(index(1) == 2);
  tk::topk(x, values, {}, {.smallest = true});
  CHECK(fp32_at(arena.content(), at_values + 12) == 0);
  CHECK(tk::topk_refusal(x, {}, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::bad_shape, "values has k = 2",
               [&] { tk::topk({arena.at(at_x), tk::dl_fp32, {2, 1}}, values, indices); });
}
