// SPDX-License-Identifier: MIT
// embedding and its backward for the fuzzer: their fields, correct problems, and what is wrong with
// others.
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_backward.h"
#include "tests/fuzz/rows.hpp"

namespace fuzz {
namespace {

// Sizes of numbers, of one to three dimensions; and d behind them.
sizes id_sizes(generator& g) {
  auto shape = row_sizes(g);
  if (shape.size() > 3) shape.erase(shape.begin());
  return shape;
}
sizes with_columns(sizes shape, i64 d) {
  shape.push_back(d);
  return shape;
}

void make_forward(generator& g) {
  auto const shape = id_sizes(g);
  i64 const v = g.size(), d = g.size();
  auto const of = g.half_or_fp32();
  g.tensor("table", of, {v, d});
  g.tensor("ids", g.flip() ? int32 : int64, shape);
  g.tensor("y", of, with_columns(shape, d));
  tk_embedding_problem p{};
  put(p.repeat, g.flip());
  g.fields(p);
}

void make_backward(generator& g) {
  auto const shape = id_sizes(g);
  i64 const v = g.size(), d = g.size();
  auto const of = g.half_or_fp32();
  g.tensor("dy", of, with_columns(shape, d));
  g.tensor("ids", g.flip() ? int32 : int64, shape);
  g.tensor("dtable", g.flip() ? of : fp32, {v, d});
  tk_embedding_backward_problem p{};
  p.ignores = g.flip();
  if (p.ignores) p.ignored_id = g.number(-2, 5);
  put(p.repeat, g.flip());
  g.fields(p);
}

// Numbers, and `rows`, which have one row for each and the columns of `table`.
void read_operands(seen_call& call, char const* rows, char const* table) {
  auto& f = call.by_query;
  call.read(table, {2, 2, takes_any});
  call.read("ids", {1, 3, takes_int32 | takes_int64, true});
  call.read(rows, {2, 4, takes_any});
  auto const i = call.index("ids"), r = call.index(rows);
  auto const &ids = call.tensors[i], &x = call.tensors[r], &t = seen(call, table);
  f.add(ids.shaped && x.shaped &&
            wide(call.spec->tensors[r].ndim) != wide(call.spec->tensors[i].ndim) + 1,
        TK_BAD_RANK);
  for (int axis = 0; axis < 3; ++axis) same_size(f, x, axis, ids, axis);
  same_size(f, x, 3, t, 1);
}

void look_forward(seen_call& call) {
  read_operands(call, "y", "table");
  auto const [table, ids, y] = call.all<3>();
  same_type(call.by_query, y, table);
  look_at_size(call, y);
}

void look_backward(seen_call& call) {
  auto const p = call.problem<tk_embedding_backward_problem>();
  auto& f = call.by_query;
  f.add(p.ignores == 0 && p.ignored_id != 0, TK_BAD_VALUE);
  read_operands(call, "dy", "dtable");
  auto const [dy, ids, dtable] = call.all<3>();
  if (dtable.bits != 32) same_type(f, dtable, dy);
  call.empty = dtable.shaped && dtable.empty();
  if (call.empty || !dy.shaped || !dtable.shaped) return;
  constexpr wide longest = (wide(1) << 31) - 65537;
  f.add(wide(dy.size[0]) * dy.size[1] * dy.size[2] > longest || dy.size[3] > longest,
        TK_UNSUPPORTED);
}

}  // namespace

fuzzed_op const& fuzzed_embedding() {
  using o = option_field;
  using problem = tk_embedding_problem;
  static fuzzed_op const op{
      TK_OP_EMBEDDING,
      "tk_embedding",
      call_untyped<problem, tk_embedding>,
      sizeof(problem),
      offsetof(problem, repeat),
      {{"table", offsetof(problem, table)},
       {"ids", offsetof(problem, ids)},
       {"y", offsetof(problem, y), true}},
      {{offsetof(problem, repeat), o::choice, 2}, {offsetof(problem, reserved), o::reserved}},
      make_forward,
      look_forward};
  return op;
}

fuzzed_op const& fuzzed_embedding_backward() {
  using o = option_field;
  using problem = tk_embedding_backward_problem;
  static fuzzed_op const op{TK_OP_EMBEDDING_BACKWARD,
                            "tk_embedding_backward",
                            call_untyped<problem, tk_embedding_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"dy", offsetof(problem, dy)},
                             {"ids", offsetof(problem, ids)},
                             {"dtable", offsetof(problem, dtable), true}},
                            {{offsetof(problem, ignored_id), o::wide_number},
                             {offsetof(problem, ignores), o::choice, 2},
                             {offsetof(problem, reserved2), o::reserved},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make_backward,
                            look_backward};
  return op;
}

}  // namespace fuzz
