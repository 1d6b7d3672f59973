// SPDX-License-Identifier: MIT
// The C++ interface: views and DLTensors alike, defaults, refusals as exceptions that carry the
// status and the sentence of the C interface.
#include "ops/embedding/embedding_backward_call.hpp"
#include "ops/embedding/embedding_call.hpp"
#include "tests/ops/embedding/scene.hpp"

using namespace scene;

namespace {

constexpr std::size_t at_y2 = 12288, at_dtable2 = 16384;

struct workspace_of {
  explicit workspace_of(std::size_t size) : held(size + 1), bytes(size) {}
  memory held;
  std::size_t bytes;
};

}  // namespace

TEST_CASE("embedding, and its gradient") {
  memory arena(arena_bytes);
  bytes host(arena_bytes, 0);
  for (std::size_t i = 0; i < 3 * 4; ++i)
    put_fp32(host, at_table + 4 * i, static_cast<float>(i + 1));
  std::int32_t const ids_given[] = {2, 0, 3, 2, 2};
  for (std::size_t i = 0; i < 5; ++i) put_int32(host, at_ids + 4 * i, ids_given[i]);
  arena.write(host);
  tk::tensor_view const table(arena.at(at_table), tk::dl_fp32, {3, 4});
  tk::tensor_view const ids(arena.at(at_ids), tk::dl_int32, {5});
  tk::output_view const y(arena.at(at_y), tk::dl_fp32, {5, 4}, {6, 1});
  CHECK(!tk::embedding_refusal(table, ids, y));
  tk::embedding(table, ids, y);
  auto const got = arena.content();
  CHECK(fp32_at(got, at_y) == 9);
  CHECK(fp32_at(got, at_y + 4 * (6 + 3)) == 4);
  CHECK(fp32_at(got, at_y + 4 * 12) == 0);
  CHECK(tk::embedding_refusal(table, {}, y)->code() == tk::status::null_pointer);
  expect_error(tk::status::bad_rank, "y has 3 dimensions where ids has 1",
               [&] { tk::embedding(table, ids, {arena.at(at_y2), tk::dl_fp32, {1, 5, 4}}); });
  CHECK(tk::embedding_workspace(table, ids, y) == 0);
  CHECK(tk::embedding_workspace({nullptr, tk::dl_bf16, {9, 256}}, {nullptr, tk::dl_int64, {256}},
                                {nullptr, tk::dl_bf16, {256, 256}}) == TK_COUNTER_BYTES);

  tk::tensor_view const dy(arena.at(at_y), tk::dl_fp32, {5, 4}, {6, 1});
  tk::output_view const dtable(arena.at(at_dtable2), tk::dl_fp32, {3, 4});
  CHECK(!tk::embedding_backward_refusal(dy, ids, dtable));
  workspace_of const w(tk::embedding_backward_workspace(dy, ids, dtable));
  CHECK(w.bytes > TK_COUNTER_BYTES);
  tk::embedding_backward(dy, ids, dtable, {.workspace = w.held.at(), .workspace_bytes = w.bytes});
  auto const sums = arena.content();
  CHECK(fp32_at(sums, at_dtable2) == 1);
  CHECK(fp32_at(sums, at_dtable2 + 4 * 4) == 0);
  CHECK(fp32_at(sums, at_dtable2 + 4 * 8) == 27);
  tk::embedding_backward(dy, ids, dtable,
                         {.ignored_id = 2, .workspace = w.held.at(), .workspace_bytes = w.bytes});
  CHECK(fp32_at(arena.content(), at_dtable2 + 4 * 8) == 0);
  CHECK(tk::embedding_backward_refusal(dy, ids, {})->code() == tk::status::null_pointer);
  expect_error(tk::status::null_pointer, "workspace",
               [&] { tk::embedding_backward(dy, ids, dtable); });
}
