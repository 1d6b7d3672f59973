// SPDX-License-Identifier: MIT
// What the row template lets a chip choose; the choices are in backends/<chip>/tune/rows.hpp:
//   row_classes          classes below it are for rows that fit into their tiles; what fits in one
//                        fits in the next. Class row_classes is for longer rows, in pieces
//   tune_rows(class, element_bytes, held)
//                        for the widest element that is read, and for so many numbers of each
//                        element of a row that are held at once
//   rows_shift(class, element_bytes, held)
//                        whether it takes rows that don't begin and end at multiples of 16 bytes;
//                        where none does, such rows move element by element
//   rows_in_turn         tasks, row_tasks_per_unit for each multiprocessor, take rows in turn; else
//                        each has rows side by side
#pragma once
#include "backends/select.hpp"

namespace tk {

// Tiles of R rows by N columns in registers: each worker has rows of its own, or the workers share
// R rows of `workers` times N columns. In a row of a tile lie `abreast` short rows side by side.
// `stages` slots of such tiles for all workers, fewer than there are inputs where rows go straight
// to registers; values per column of up to `hold` bytes stay in registers.
struct row_tuning {
  int workers, R, N, abreast, stages, hold;
  bool shared;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / rows.hpp))
#include TK_CHIP(tune / rows.hpp)
#else
#include TK_BACKEND(tune/rows.hpp)
#endif
