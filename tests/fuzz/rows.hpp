// SPDX-License-Identifier: MIT
// What ops that go row by row share in the fuzzer: shapes of one to four dimensions, what such
// operands are held to, and what a launch must have been given.
#pragma once
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/launch.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {

inline sizes row_sizes(generator& g) {
  sizes shape{g.size()};
  auto const rank = g.number(1, 4);
  while (i64(shape.size()) < rank)
    shape.insert(shape.begin(), shape.size() == 1 || g.huge() ? g.size() : g.number(0, 3));
  return shape;
}

inline void same_rank(seen_call& call, char const* name, char const* like) {
  auto const x = call.index(name), y = call.index(like);
  bool const known = call.tensors[x].shaped && call.tensors[y].shaped;
  call.by_query.add(known && call.spec->tensors[x].ndim != call.spec->tensors[y].ndim, TK_BAD_RANK);
}
// Of the rank and sizes of `like`.
inline void read_rows_of_size(seen_call& call, char const* name, char const* like) {
  call.read(name, {1, 4, takes_any});
  auto const &t = call.tensors[call.index(name)], &x = call.tensors[call.index(like)];
  same_rank(call, name, like);
  for (int axis = 0; axis < 4; ++axis) same_size(call.by_query, t, axis, x, axis);
}
// And of its type.
inline void read_rows(seen_call& call, char const* name, char const* like) {
  read_rows_of_size(call, name, like);
  same_type(call.by_query, call.tensors[call.index(name)], call.tensors[call.index(like)]);
}
// Past what a launch addresses, of the sizes of `x`.
inline void look_at_size(seen_call& call, seen_tensor const& x) {
  constexpr wide longest = (wide(1) << 31) - 65537;
  call.empty = x.shaped && x.empty();
  if (call.empty || !x.shaped) return;
  wide const rows = wide(x.size[0]) * x.size[1] * x.size[2];
  call.by_query.add(rows > longest || x.size[3] > longest, TK_UNSUPPORTED);
}

// `like`: whose sizes it has, where a size of 1 stands for any.
inline void agree_rows(tk::row_tensor_view const& x, seen_tensor const& t,
                       seen_tensor const& like) {
  require((x.data != nullptr) == t.looked_at, "rows appeared or went");
  if (!t.looked_at) return;
  agree(static_cast<tk::any_tensor const&>(x), t);
  require(x.outer == like.size[0] && x.middle == like.size[1] && x.rows == like.size[2] &&
              x.width == like.size[3],
          "sizes of rows changed");
  require(x.outer_stride == t.stride[0] && x.middle_stride == t.stride[1] &&
              x.row_stride == t.stride[2],
          "strides of rows changed");
}

// The workspace is that of ops which deal their last rows on demand.
inline void check_row_workspace(tk::row_tensor_view const& x) {
  wide const elements = wide(x.outer) * x.middle * x.rows * x.width;
  require(running.needed == (elements < 1 << 16 ? 0 : tk::counter_bytes), "the workspace of rows");
}

}  // namespace fuzz
