// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include <cmath>

#include "ops/linear_cross_entropy/linear_cross_entropy_call.hpp"
#include "tests/ops/linear_cross_entropy/scene.hpp"

using namespace scene;

TEST_CASE("linear_cross_entropy's outputs and options are off unless given") {
  memory arena(arena_bytes), workspace(1 << 20);
  bytes host(arena_bytes, 0);
  for (int i = 0; i < 6; ++i) put_int32(host, at_labels + 4 * static_cast<std::size_t>(i), i);
  arena.write(host);
  workspace.write(bytes(1 << 20, 0));
  tk::tensor_view const x(arena.at(at_x), tk::dl_bf16, {6, 8});
  tk::tensor_view const w(arena.at(at_w), tk::dl_bf16, {20, 8});
  tk::tensor_view const labels(arena.at(at_labels), tk::dl_int32, {6});
  tk::output_view const loss(arena.at(at_loss), tk::dl_fp32, {6});
  tk::output_view const lse(arena.at(at_lse), tk::dl_fp32, {6});
  tk::output_view const dw(arena.at(at_dw), tk::dl_fp32, {20, 8});
  CHECK(!tk::linear_cross_entropy_refusal(x, w, labels, loss));
  auto const bytes_needed = tk::linear_cross_entropy_workspace(x, w, labels, loss);
  CHECK(bytes_needed > 6 * 64 * 2);
  REQUIRE(bytes_needed <= workspace.size());
  tk::linear_cross_entropy(x, w, labels, loss,
                           {.workspace = workspace.at(), .workspace_bytes = workspace.size()});
  CHECK(std::abs(fp32_at(arena.content(), at_loss + 20) - std::log(20.)) < 1e-5);
  CHECK(fp32_at(arena.content(), at_lse) == 0);
  tk::linear_cross_entropy(x, w, labels, loss,
                           {.lse = lse,
                            .dw = dw,
                            .ignore_index = 5,
                            .chunk_rows = 2,
                            .workspace = workspace.at(),
                            .workspace_bytes = workspace.size()});
  CHECK(fp32_at(arena.content(), at_loss + 20) == 0);
  CHECK(std::abs(fp32_at(arena.content(), at_lse) - std::log(20.)) < 1e-5);
  expect_error(tk::status::null_pointer, "workspace is NULL",
               [&] { tk::linear_cross_entropy(x, w, labels, loss); });
  expect_error(tk::status::bad_value, "chunk_rows is -2",
               [&] { tk::linear_cross_entropy(x, w, labels, loss, {.chunk_rows = -2}); });
  CHECK(tk::linear_cross_entropy_refusal(x, {}, labels, loss)->code() == tk::status::null_pointer);
}
