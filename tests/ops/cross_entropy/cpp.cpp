// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include <cmath>

#include "ops/cross_entropy/cross_entropy_backward_call.hpp"
#include "ops/cross_entropy/cross_entropy_call.hpp"
#include "tests/ops/cross_entropy/scene.hpp"

using namespace scene;

bool is_near(float x, double y) { return std::abs(x - y) < 1e-5; }

// Six rows of twenty zeros; labels 0 to 5.
bytes zeros_with_labels() {
  bytes host(arena_bytes, 0);
  for (int i = 0; i < 6; ++i) put_int32(host, at_labels + 4 * static_cast<std::size_t>(i), i);
  return host;
}

TEST_CASE("cross_entropy's outputs and options are off unless given") {
  memory arena(arena_bytes);
  arena.write(zeros_with_labels());
  tk::tensor_view const x(arena.at(at_x), tk::dl_fp32, {6, 20});
  tk::tensor_view const labels(arena.at(at_labels), tk::dl_int32, {6});
  tk::output_view const loss(arena.at(at_loss), tk::dl_fp32, {6});
  CHECK(!tk::cross_entropy_refusal(x, labels, loss));
  tk::cross_entropy(x, labels, loss);
  CHECK(is_near(fp32_at(arena.content(), at_loss + 20), std::log(20.)));
  CHECK(fp32_at(arena.content(), at_lse) == 0);
  CHECK(fp32_at(arena.content(), at_dx) == 0);
  tk::output_view const lse(arena.at(at_lse), tk::dl_fp32, {6}, {2});
  tk::output_view const dx(arena.at(at_dx), tk::dl_fp32, {6, 20}, {32, 1});
  tk::cross_entropy(x, labels, loss, {.lse = lse, .dx = dx, .ignore_index = 0, .z_loss = 1});
  auto const host = arena.content();
  CHECK(fp32_at(host, at_loss) == 0);
  CHECK(is_near(fp32_at(host, at_loss + 4), std::log(20.) + std::log(20.) * std::log(20.)));
  CHECK(is_near(fp32_at(host, at_lse + 8), std::log(20.)));
  CHECK(is_near(fp32_at(host, at_dx + 32 * 4), 0.05 * (1 + 2 * std::log(20.))));
  CHECK(fp32_at(host, at_dx) == 0);
  CHECK(tk::cross_entropy_refusal(x, labels, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::bad_rank, "loss has 2 dimensions where x has 2",
               [&] { tk::cross_entropy(x, labels, {arena.at(at_loss), tk::dl_fp32, {6, 1}}); });
  CHECK(tk::cross_entropy_workspace(x, labels, loss) == 0);
  tk::output_view const large(nullptr, tk::dl_bf16, {256, 256});
  tk::output_view const each(nullptr, tk::dl_fp32, {256});
  CHECK(tk::cross_entropy_workspace(large, {nullptr, tk::dl_int64, {256}}, each) ==
        TK_COUNTER_BYTES);
}

TEST_CASE("cross_entropy's backward: options are off unless given") {
  memory arena(arena_bytes);
  auto host = zeros_with_labels();
  for (std::size_t i = 0; i < 6; ++i) put_fp32(host, at_lse + 4 * i, std::log(16.f));
  put_fp32(host, at_dloss, 2);
  arena.write(host);
  tk::tensor_view const x(arena.at(at_x), tk::dl_fp32, {6, 20});
  tk::tensor_view const labels(arena.at(at_labels), tk::dl_int32, {6});
  tk::tensor_view const lse(arena.at(at_lse), tk::dl_fp32, {6});
  tk::tensor_view const dloss(arena.at(at_dloss), tk::dl_fp32, {6}, {0});
  tk::output_view const dx(arena.at(at_dx), tk::dl_fp32, {6, 20});
  CHECK(!tk::cross_entropy_backward_refusal(x, labels, lse, dloss, dx));
  tk::cross_entropy_backward(x, labels, lse, dloss, dx);
  CHECK(is_near(fp32_at(arena.content(), at_dx), -15. / 8));
  CHECK(is_near(fp32_at(arena.content(), at_dx + 4), 1. / 8));
  tk::cross_entropy_backward(x, labels, lse, dloss, dx,
                             {.ignore_index = 1, .label_smoothing = 0.5f});
  CHECK(is_near(fp32_at(arena.content(), at_dx), 2 * (1. / 16 - 0.5 - 1. / 40)));
  CHECK(fp32_at(arena.content(), at_dx + 4 * 21) == 0);
  CHECK(tk::cross_entropy_backward_refusal(x, labels, lse, {}, dx)->code() ==
        tk::status::null_pointer);
  expect_error(tk::status::bad_shape, "dloss has rows = 1 where x has rows = 6", [&] {
    tk::cross_entropy_backward(x, labels, lse, {arena.at(at_dloss), tk::dl_fp32, {1}}, dx);
  });
  CHECK(tk::cross_entropy_backward_workspace(x, labels, lse, dloss, dx) == 0);
}
