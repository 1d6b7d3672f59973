// SPDX-License-Identifier: MIT
// What an op of rows (core/row_kernel.hpp) is launched with, and what a chip's tuning is told of
// it.
#pragma once
#include <algorithm>
#include <utility>

#include "backends/kernel.hpp"
#include "core/row_operand.hpp"
#include "core/row_tuning.hpp"
#include "core/schedule.hpp"

namespace tk {

// What all ops of rows have among their arguments.
template <class Op> struct row_args {
  typename Op::args op;
  row_memory in[Op::inputs], out[Op::outputs];
  vector_memory vectors[Op::vectors > 0 ? Op::vectors : 1];
  row_memory values[row_values_of<Op>() + 1];
  float* sums[column_sums_of<Op>() + 1];  // of each task, `sum_stride` apart; null where absent
  int sum_stride;
  int vectors_are_fp32, through_ring, pieces_fit_ring;  // flags, but words
  int present, passes;                                  // inputs that are there
  int rows, all_rows, width, pieces;                    // rows of one matrix, and of all
  int groups_of_matrix, groups, n1;                     // matrix m is at m / n1, m % n1
  divisor by_rows, by_n1;
  divisor by_groups;     // groups of a matrix, or matrices
  int matrices_in_turn;  // whether groups have the same rows of one matrix after another; a flag,
                         // but a word
  divisor by_steps, by_present, by_pieces;  // steps of a group, inputs of a step, pieces of a pass
  int numbers_are_wide;                     // of 64 bits; a flag, but a word
  int planned, planned_tasks;  // groups that the first tasks share; the rest is dealt late
  int in_task;                 // so many have each of these but the last ones
  int in_turn;        // whether tasks take groups in turn, or side by side; a flag, but a word
  unsigned* tickets;  // null where nothing is
};

// Bytes of a column of the widest input.
template <class Op, int... I> constexpr int widest_input(std::integer_sequence<int, I...>) {
  return std::max(
      {1, static_cast<int>(sizeof(typename Op::template input<I>)) / columns_each<Op>(I)...});
}

// Lean: without what may be absent (row_extras).
template <class Op, bool Lean = false>
inline constexpr row_load load_of{
    widest_input<Op>(std::make_integer_sequence<int, Lean ? extras_of<Op>().inputs : Op::inputs>{}),
    Op::held,
    Lean ? extras_of<Op>().sums : column_sums_of<Op>(),
    Lean ? extras_of<Op>().inputs : Op::inputs,
    Lean ? extras_of<Op>().outputs : Op::outputs,
    row_values_of<Op>(),
    Op::vectors,
    goes_once<Op>()};

// Whether the chip has kernels for rows that lie anywhere: then all others are for rows that begin
// and end at multiples of 16 bytes.
template <class Op>
inline constexpr bool rows_shift = be::rows_shift(be::row_classes(load_of<Op>), load_of<Op>);

}  // namespace tk
