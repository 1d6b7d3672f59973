// SPDX-License-Identifier: MIT
// Where the rows of an operand of the row template lie (core/row_kernel.hpp): in one matrix, in all
// of them counted through, or where a number of each row says.
#pragma once
#include "core/divisor.hpp"
#include "core/rows.hpp"

namespace tk {

// ---- what an op says of its operands, or need not
// How many sums over rows, one for each column, an op makes.
template <class Op> constexpr int column_sums_of() {
  if constexpr (requires { Op::sums; }) return Op::sums;
  else return 0;
}

// How many tensors with one number for each row it has.
template <class Op> constexpr int row_values_of() {
  if constexpr (requires { Op::values; }) return Op::values;
  else return 0;
}

// Whether rows may end before their width.
template <class Op> constexpr bool has_row_ends() {
  return requires(typename Op::args const& a) { Op::ends(a); };
}

// Whether it keeps elements at random.
template <class Op> constexpr bool has_random() {
  if constexpr (requires { Op::random; }) return Op::random;
  else return false;
}

// Whether it goes over rows once.
template <class Op> constexpr bool goes_once() {
  if constexpr (requires { Op::once; }) return Op::once;
  else return false;
}

// Whether columns 2 i and 2 i + 1 have to be in one lane.
template <class Op> constexpr bool has_pairs() {
  if constexpr (requires { Op::pairs; }) return Op::pairs;
  else return false;
}
// How many columns one element of an input stands for, 1 or 2.
template <class Op> constexpr int columns_each(int input) {
  if constexpr (requires { Op::columns_each(0); }) return Op::columns_each(input);
  else return 1;
}
// The values that say which row of an input is read; -1: none do.
template <class Op> constexpr int number_of(int input) {
  if constexpr (requires { Op::number_of(0); }) return Op::number_of(input);
  else return -1;
}
// Whether rows of an input lie anyhow, those of several in one place: then nobody asks whether they
// lie evenly.
template <class Op> constexpr bool lies_anyhow(int input) {
  if constexpr (requires { Op::lies_anyhow(0); }) return Op::lies_anyhow(input);
  else return false;
}
// From these numbers on, inputs, outputs, vectors and sums over rows may be absent; inputs and
// outputs before them never are. Often the inputs, outputs and sums among them all are, and the
// first vectors are there: there are lean kernels for that, in which p(...) of what is absent adds
// nothing to a sum.
struct row_extras {
  int inputs, outputs, vectors, sums;
};
template <class Op> constexpr bool has_extras() {
  return requires { Op::extras; };
}
template <class Op> constexpr row_extras extras_of() {
  if constexpr (has_extras<Op>()) return Op::extras;
  else return {Op::inputs, Op::outputs, Op::vectors, column_sums_of<Op>()};
}
// Whether there are kernels for less than all.
template <class Op> constexpr bool has_lean() {
  constexpr auto x = extras_of<Op>();
  return has_extras<Op>() && (x.inputs < Op::inputs || x.outputs < Op::outputs || x.vectors > 0 ||
                              x.sums < column_sums_of<Op>());
}
// Which operand's rows lie as those of this one, some elements away: their strides are the same.
template <class Op> constexpr int input_like(int input) {
  if constexpr (requires { Op::input_like(0); }) return Op::input_like(input);
  else return input;
}
template <class Op> constexpr int output_like(int output) {
  if constexpr (requires { Op::output_like(0); }) return Op::output_like(output);
  else return output;
}
// The first input that is a table of numbered rows, -1 where none is; and the values that have the
// numbers, for all such inputs.
template <class Op> constexpr int first_table() {
  for (int i = 0; i < Op::inputs; ++i)
    if (number_of<Op>(i) >= 0) return i;
  return -1;
}
template <class Op> constexpr int numbers_of() {
  return first_table<Op>() < 0 ? -1 : number_of<Op>(first_table<Op>());
}
// Whether copies of the ring bring the rows of all inputs as they are: 16 bytes at once, which may
// be two chunks of 1-byte elements.
template <class Op> constexpr bool reads_plain_rows() {
  for (int i = 0; i < Op::inputs; ++i)
    if (columns_each<Op>(i) != 1 || number_of<Op>(i) >= 0) return false;
  return []<int... I>(std::integer_sequence<int, I...>) {
    return ((sizeof(typename Op::template input<I>) > 1) && ...);
  }(std::make_integer_sequence<int, Op::inputs>{});
}

// ---- memory
// The memory of an operand: rows of several matrices, or, where a number of each row says which of
// them is read, table_rows rows. data is null where it is absent.
struct row_memory {
  void* data;
  std::int64_t row_stride, stride0, stride1;
  int vector_width, table_rows;
  int evenly;  // whether rows of all matrices are row_stride apart; a flag, but a word
};
struct vector_memory {
  void const* data;
  int vector_width;
};

// Rows of all matrices, counted through: row r of matrix (i, j) of n0 x n1 is (i n1 + j) each + r.
template <class T> struct counted_rows {
  T* data;
  std::int64_t rows, cols, row_stride, stride0, stride1;
  bool evenly;
  divisor each, n1;

  TK_BOTH T* at(int row, int col) const {
    if (evenly) return data + (steps_of(row, row_stride) + col);
    auto const in_matrix = each.of(row), matrix = n1.of(in_matrix.quotient);
    return data +
           (matrix.quotient * stride0 + matrix.rest * stride1 + in_matrix.rest * row_stride + col);
  }
};
template <class T> TK_BOTH row_line<T> line_of(counted_rows<T> const& x, int row) {
  return {x.at(row, 0), row < x.rows};
}

// Of each row that is there in `of` that row or, where it is `numbered`, row number(row) of a
// table: none where the table has no such row.
template <class Rows, class T, class Number> struct numbered_rows {
  Rows of;
  T* table;
  std::int64_t table_rows, stride, cols;
  bool numbered;
  Number number;
};
template <class Rows, class T, class Number>
TK_BOTH row_line<T> table_line(numbered_rows<Rows, T, Number> const& x, std::int64_t number) {
  bool const there = number >= 0 && number < x.table_rows;
  return {x.table + (there ? number * x.stride : 0), there};
}
template <class Rows, class T, class Number>
TK_BOTH row_line<T> line_of(numbered_rows<Rows, T, Number> const& x, int row) {
  auto const line = line_of(x.of, row);
  return x.numbered ? table_line(x, line.there ? x.number(row) : -1) : line;
}

}  // namespace tk
