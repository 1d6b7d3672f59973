// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include <cmath>

#include "ops/softmax/softmax_backward_call.hpp"
#include "ops/softmax/softmax_call.hpp"
#include "tests/ops/softmax/scene.hpp"

using namespace scene;

constexpr std::size_t at_x = 0, at_bias = 4096, at_y = 8192, at_dy = 12288, at_dx = 16384,
                      at_dbias = 20480;
bool is_near(float x, double y) { return std::abs(x - y) < 1e-6; }

TEST_CASE("softmax's bias is optional, its scale is 1 unless said") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 6 * 20; ++i) put_fp32(host, at_x + 4 * i, i % 2 ? std::log(3.f) : 0);
  for (std::size_t i = 0; i < 20; ++i) put_fp32(host, at_bias + 4 * i, i % 2 ? std::log(3.f) : 0);
  arena.write(host);
  tk::tensor_view const x(arena.at(at_x), tk::dl_fp32, {6, 20});
  tk::output_view const y(arena.at(at_y), tk::dl_fp32, {6, 20}, {32, 1});
  CHECK(!tk::softmax_refusal(x, y));
  tk::softmax(x, y);
  CHECK(is_near(fp32_at(arena.content(), at_y), 0.025));
  tk::softmax(x, y, {.bias = {arena.at(at_bias), tk::dl_fp32, {1, 20}}, .scale = 2});
  CHECK(is_near(fp32_at(arena.content(), at_y), 1.0 / 280));
  CHECK(is_near(fp32_at(arena.content(), at_y + 5 * 32 * 4 + 4), 27.0 / 280));
  CHECK(fp32_at(arena.content(), at_y + 20 * 4) == 0);
  tk::softmax(x, y, {.mask = TK_MASK_CAUSAL});
  CHECK(is_near(fp32_at(arena.content(), at_y), 1.0 / 29));  // eight of 1, seven of 3
  CHECK(fp32_at(arena.content(), at_y + 19 * 4) == 0);
  host.assign(arena_bytes, 0);
  for (std::size_t i = 0; i < 20; ++i) host[at_bias + i] = i % 4 == 3;
  arena.write(host);
  for (auto const type : {tk::dl_bool, tk::dl_uint8}) {
    tk::softmax(x, y, {.bool_mask = {arena.at(at_bias), type, {1, 20}}});
    CHECK(is_near(fp32_at(arena.content(), at_y + 3 * 4), 0.2));
    CHECK(fp32_at(arena.content(), at_y) == 0);
    tk::softmax(x, y);
    CHECK(is_near(fp32_at(arena.content(), at_y), 0.05));
  }
  CHECK(tk::softmax_refusal(x, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::bad_rank, "y has 3 dimensions where x has 2",
               [&] { tk::softmax(x, {arena.at(at_y), tk::dl_fp32, {1, 6, 20}}); });
  CHECK(tk::softmax_workspace(x, y) == 0);
  CHECK(tk::softmax_workspace({nullptr, tk::dl_bf16, {256, 256}},
                              {nullptr, tk::dl_bf16, {256, 256}}) == TK_COUNTER_BYTES);
}

TEST_CASE("softmax's backward: dbias is optional, its scale is 1 unless said") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 2 * 16; ++i) {
    put_fp32(host, at_y + 4 * i, 1.f / 16);
    put_fp32(host, at_dy + 4 * i, i % 2 ? 16 : 0);
  }
  arena.write(host);
  tk::tensor_view const y(arena.at(at_y), tk::dl_fp32, {2, 16});
  tk::tensor_view const dy(arena.at(at_dy), tk::dl_fp32, {2, 16});
  tk::output_view const dx(arena.at(at_dx), tk::dl_fp32, {2, 16});
  tk::output_view const dbias(arena.at(at_dbias), tk::dl_fp32, {2, 16}, {24, 1});
  CHECK(!tk::softmax_backward_refusal(y, dy, dx));
  tk::softmax_backward(y, dy, dx);
  CHECK(fp32_at(arena.content(), at_dx) == -0.5);
  CHECK(fp32_at(arena.content(), at_dbias) == 0);
  tk::softmax_backward(y, dy, dx, {.dbias = dbias, .scale = 4});
  CHECK(fp32_at(arena.content(), at_dx + 4) == 2);
  CHECK(fp32_at(arena.content(), at_dbias + 4 * 25) == 0.5);
  tk::softmax_backward(y, dy, dx, {.mask = TK_MASK_CAUSAL});
  CHECK(fp32_at(arena.content(), at_dx) == -7.f / 16);
  CHECK(fp32_at(arena.content(), at_dx + 15 * 4) == 0);
  CHECK(tk::softmax_backward_refusal(y, {}, dx)->code() == tk::status::null_pointer);
  expect_error(tk::status::bad_rank, "dy has 1 dimensions where y has 2",
               [&] { tk::softmax_backward(y, {arena.at(at_dy), tk::dl_fp32, {16}}, dx); });
  CHECK(tk::softmax_backward_workspace(y, dy, dx) == 0);
  tk::output_view const large(nullptr, tk::dl_bf16, {256, 256});
  CHECK(tk::softmax_backward_workspace(large, large, large) == TK_COUNTER_BYTES);
}
