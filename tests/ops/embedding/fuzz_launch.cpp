// SPDX-License-Identifier: MIT
// What stands in for the kernels of embedding and its backward in the fuzzer.
#include <type_traits>

#include "ops/embedding/backward_problem.hpp"
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_backward.h"
#include "ops/embedding/problem.hpp"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

void agree_ids(tk::row_tensor_view const& x, seen_tensor const& t) {
  if (t.empty()) return require(!x.data, "numbers appeared");
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.outer == t.size[0] && x.middle == t.size[1] && x.rows == t.size[2],
          "sizes of numbers changed");
  require(x.outer_stride == t.stride[0] && x.middle_stride == t.stride[1] &&
              x.row_stride == t.stride[2],
          "strides of numbers changed");
}
void agree_named(tk::row_tensor_view const& x, seen_tensor const& t) {
  if (t.empty()) return require(!x.data, "rows appeared");
  agree_rows(x, t, t);
}
void agree_table(tk::row_tensor_view const& x, seen_tensor const& t) {
  if (t.empty()) return require(!x.data, "a table appeared");
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.rows == t.size[0] && x.width == t.size[1] && x.row_stride == t.stride[0],
          "a table changed");
}

void check(tk::embedding_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_EMBEDDING, workspace, stream);
  auto const [table, ids, y] = call.all<3>();
  check_row_workspace(x.y);
  agree_table(x.table, table);
  agree_ids(x.ids, ids);
  agree_named(x.y, y);
  touch();
}

// Two places of 4-byte keys and numbers, counts of 128 digits for each 1024 tokens, two sums of a
// row for each 128 tokens; each at a multiple of 128 bytes.
wide expected_workspace(seen_tensor const& dy) {
  wide const n = wide(dy.size[0]) * dy.size[1] * dy.size[2];
  if (n == 0) return 0;
  wide all = wide(tk::counter_bytes);
  auto const add = [&](wide bytes) { all = (all + 127) / 128 * 128 + bytes; };
  for (int i = 0; i < 4; ++i) add(4 * n);
  add(4 * 128 * (tiles(static_cast<i64>(n), 1024) + 1));
  if (n > 128) add(4 * 2 * tiles(static_cast<i64>(n), 128) * tiles(dy.size[3], 4) * 4);
  return all;
}

void check(tk::embedding_backward_problem const& x, void* workspace, void* stream) {
  auto const& call = begin(TK_OP_EMBEDDING_BACKWARD, workspace, stream);
  auto const p = call.problem<tk_embedding_backward_problem>();
  auto const [dy, ids, dtable] = call.all<3>();
  require(running.needed == expected_workspace(dy), "the workspace of embedding_backward");
  agree_named(x.dy, dy);
  agree_ids(x.ids, ids);
  agree_table(x.dtable, dtable);
  require(x.ignores == (p.ignores != 0) && x.ignored_id == p.ignored_id, "what is ignored changed");
  touch();
}

}  // namespace
}  // namespace fuzz

namespace tk {

template <class T> struct embedding_run {
  static void launch(embedding_problem const& x, void* workspace, void* stream) {
    fuzz::require(fuzz::is_of<T>(x.y), "another instance was chosen");
    fuzz::check(x, workspace, stream);
  }
};
template struct embedding_run<bf16>;
template struct embedding_run<fp16>;
template struct embedding_run<float>;

template <class Id>
sorted_items embedding_order<Id>::launch(embedding_backward_problem const& x,
                                         sort_memory const& memory, void*) {
  bool const wide = x.ids.type == element::int64;
  fuzz::require(wide == std::is_same_v<Id, std::int64_t>, "another instance was chosen");
  return memory.places[0];
}
template <class T, class D>
void embedding_backward_run<T, D>::launch(embedding_backward_problem const& x, sorted_items const&,
                                          void* workspace, void* stream) {
  fuzz::require(fuzz::is_of<T>(x.dy) && fuzz::is_of<D>(x.dtable), "another instance was chosen");
  fuzz::check(x, workspace, stream);
}
template struct embedding_order<std::int32_t>;
template struct embedding_order<std::int64_t>;
template struct embedding_backward_run<bf16, bf16>;
template struct embedding_backward_run<bf16, float>;
template struct embedding_backward_run<fp16, fp16>;
template struct embedding_backward_run<fp16, float>;
template struct embedding_backward_run<float, float>;

}  // namespace tk
