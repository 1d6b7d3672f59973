// SPDX-License-Identifier: MIT
// From a checked problem, and tokens in the order of their rows, to launches of embedding_backward:
// of all rows, and where there may be any, of those of several pieces. embedding_backward_run<T, D>
// is instantiated for each row of ops/embedding/embedding_backward.cmake.
#pragma once
#include "ops/embedding/embedding_backward.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T, class D>
void embedding_backward_run<T, D>::launch(embedding_backward_problem const& x,
                                          sorted_items const& sorted, void* workspace,
                                          void* stream) {
  using rows = embedding_backward_rows<T, D>;
  embedding_backward_memory const memory(x);
  auto const& to = x.dtable;
  embedding_backward_args<T, D> a{};
  a.tokens = {sorted, x.tokens(), static_cast<std::uint32_t>(to.rows)};
  a.dy = rows_of_tokens<T const>(x.dy);
  a.dtable = {static_cast<D*>(to.data), to.rows, to.width, to.row_stride};
  a.dy_vector_width = row_vector_width<T>(x.dy, {});
  a.dtable_vector_width = row_vector_width<D>(to, {});
  // Columns are shared where there are few tokens.
  constexpr int many = 1 << 14;
  int const tiles = ceil_div(static_cast<int>(to.width), rows::N);
  auto const parts = [&](int each) { return std::clamp(many / std::max(each, 1), 1, tiles); };
  a.column_parts = parts(ceil_div(a.tokens.count, rows::some));
  if (a.tokens.count > piece_tokens)
    a.sums = {memory.sums_in(workspace), memory.sums(), memory.stride(), memory.stride()};
  be::launch<rows>(a, stream);
  if (a.tokens.count <= piece_tokens) return;
  a.column_parts = parts(ceil_div(a.tokens.count, piece_tokens * rows::some));
  be::launch<embedding_backward_long_rows<T, D>>(a, stream);
}

}  // namespace tk
