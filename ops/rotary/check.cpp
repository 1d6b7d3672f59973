// SPDX-License-Identifier: MIT
// The checks of tk_rotary: q, k and their results of three or four dimensions, of which k's may
// differ from q's in heads alone; tables of one size and type; positions or offsets. q_out may be q
// itself, and k_out k.
#include "ops/api/entry.hpp"
#include "ops/api/rows.hpp"
#include "ops/rotary/problem.hpp"
#include "ops/rotary/rotary.h"

namespace tk::api {
namespace {

constexpr std::array<char const*, 4> axes{"b", "n", "h", "d"};
constexpr signature heads_are(char const* name) { return {name, any_type, 4, 3, axes}; }
constexpr signature table_is(char const* name) { return {name, any_type, 2, 2, {"m", "w"}}; }
constexpr signature q_is = heads_are("q"), k_is = heads_are("k"), q_out_is = heads_are("q_out"),
                    k_out_is = heads_are("k_out"), cos_is = table_is("cos"),
                    sin_is = table_is("sin");
constexpr signature positions_are{"positions", integers, 2, 1, {"b", "n"}, true};
constexpr signature offsets_are{"offsets", integers, 1, 1, {"b"}, true};

// Keys have q's type, rank and sizes but for their number of heads.
view read_keys(DLTensor const* given, view const& q, reading const& how) {
  view const k = read(given, k_is, how);
  expect_same_type(k, q);
  expect_same_rank(k, q);
  for (int const axis : {0, 1, 3}) expect_same_size(k, axis, q, axis);
  return k;
}

void read_tables(view& cos, view& sin, tk_rotary_problem const& given, view const& q,
                 reading const& how) {
  cos = read(given.cos, cos_is, how);
  if (cos.type != element::fp32) expect_same_type(cos, q);
  sin = read(given.sin, sin_is, how);
  expect_same_type(sin, cos);
  for (int axis = 0; axis < 2; ++axis) expect_same_size(sin, axis, cos, axis);
  if (cos.size[1] > q.size[3] / 2)
    refuse(status::bad_shape, "cos has w = ", cos.size[1], "; q has d = ", q.size[3],
           ", which must be at least twice that");
}

view read_positions(DLTensor const* given, view const& q, reading const& how) {
  view const x = read(given, positions_are, how);
  if (x.rank != q.rank - 2)
    refuse(status::bad_rank, "positions has ", x.rank, " dimensions where q has ", q.rank,
           "; it must have ", q.rank - 2);
  for (int axis = 0; axis < 2; ++axis) expect_same_size(x, axis, q, axis);
  return x;
}

row_tensor_view as_numbers(view const& x, view const& q, std::int64_t b_stride,
                           std::int64_t n_stride) {
  row_tensor_view y{};
  y.data = x.data;
  y.type = x.type;
  y.outer = q.size[0];
  y.middle = q.size[1];
  y.rows = y.width = 1;
  y.outer_stride = b_stride;
  y.middle_stride = n_stride;
  return y;
}
row_tensor_view as_table(view const& x) {
  row_tensor_view y{};
  y.data = x.data;
  y.type = x.type;
  y.outer = y.middle = 1;
  y.rows = x.size[0];
  y.width = x.size[1];
  y.row_stride = x.stride[0];
  return y;
}

checked<rotary_problem, 8> check(tk_rotary_problem const& given, bool data) {
  int const interleaved = expect_one_of("interleaved", given.interleaved, flag_names);
  int const inverse = expect_one_of("inverse", given.inverse, flag_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // elements are alike either way
  expect_reserved(given.reserved);
  if (!given.k != !given.k_out)
    refuse(status::null_pointer,
           given.k ? "k_out is NULL but k is given" : "k is NULL but k_out is given");
  if (given.positions && given.offsets)
    refuse(status::bad_value, "positions and offsets are both given");
  reading const how{data, be::rt::current_device()};

  checked<rotary_problem, 8> result{};
  auto& [q, k, cos, sin, positions, offsets, q_out, k_out] = result.tensors;
  q = read(given.q, q_is, how);
  if (given.k) k = read_keys(given.k, q, how);
  read_tables(cos, sin, given, q, how);
  if (given.positions) positions = read_positions(given.positions, q, how);
  if (given.offsets) {
    offsets = read(given.offsets, offsets_are, how);
    expect_same_size(offsets, 0, q, 0);
  }
  bool const in_order = !given.positions && !given.offsets;
  if (in_order && cos.size[0] < q.size[1])
    refuse(status::bad_shape, "cos has m = ", cos.size[0], " rows where q has n = ", q.size[1],
           "; without positions and offsets it must have at least as many");
  q_out = read_rows_like(given.q_out, q_out_is, q, how);
  if (given.k) k_out = read_rows_like(given.k_out, k_out_is, k, how);

  for (auto const* output : {&q_out, &k_out}) {
    if (!output->is) continue;
    expect_distinct_elements(*output);
    if (!data) continue;
    auto const& own = output == &q_out ? q : k;
    if (!is_same(*output, own)) expect_apart(*output, own);
    for (auto const* input : {output == &q_out ? &k : &q, &cos, &sin, &positions, &offsets})
      expect_apart(*output, *input);
  }
  if (data && given.k) expect_apart(q_out, k_out);

  result.empty = !has_elements(q) && !(given.k && has_elements(k));
  result.problem = {
      .q = as_rows(q),
      .k = as_rows(k),
      .q_out = as_rows(q_out),
      .k_out = as_rows(k_out),
      .cos = as_table(cos),
      .sin = as_table(sin),
      .numbers = given.offsets ? as_numbers(offsets, q, offsets.stride[0], 0)
                               : as_numbers(positions, q, positions.stride[0], positions.stride[1]),
      .are_offsets = given.offsets != nullptr,
      .interleaved = interleaved == 1,
      .inverse = inverse == 1};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(rotary, repeat, check)
