// SPDX-License-Identifier: MIT
// What the row template lets a chip choose; the choices are in backends/<chip>/tune/rows.hpp:
//   row_long_class(of)   classes below it are for rows that fit into their tiles; what fits in one
//                        fits in the next. From it on rows are longer, and come in pieces
//   row_classes(of)      the last class; those from row_long_class to before it are for rows whose
//                        pieces fit into the ring of a block, or of a cluster's blocks
//   tune_rows(class, of)
//   rows_shift(class, of)
//                        whether it takes rows that don't begin and end at multiples of 16 bytes;
//                        where none does, such rows move element by element
//   row_tasks_per_unit(width)
//                        tasks for each multiprocessor, where they are as many as run at a time
//   lean_rows            whether there are kernels of their own without what may be absent
//   moves_across         whether 16 bytes that don't begin at a multiple of 16 are read by words
//                        of 4, and written by chunks that lanes make together
//                        (core/rows_across.hpp), else element by element
//   writes_in_pairs      whether two lanes write runs of fp32 together
//   rows_in_turn         such tasks take rows in turn; else each has rows side by side
#pragma once
#include "backends/select.hpp"

namespace tk {

// What an op asks of a lane: bytes of a column of the widest input; so many numbers of each element
// of a row that are held at once; so many sums over rows for each column; so many inputs and
// outputs; so many tensors with a number for each row, and for each column; and whether it goes
// over rows once.
struct row_load {
  int element_bytes, held, sums, inputs, outputs, values, vectors;
  bool once;
};

// Tiles of R rows by N columns in registers: each worker has rows of its own, or the workers share
// R rows of `workers` times N columns. In a row of a tile lie `abreast` short rows side by side.
// `stages` slots of such tiles for all workers, fewer than there are inputs where rows go straight
// to registers, for each of `blocks` that share a multiprocessor; values per column of up to `hold`
// bytes stay in registers. With `per_unit` above 0 all rows do, so many blocks share a
// multiprocessor (core/block.hpp, direct_op), and where workers share rows, a block has as many of
// them as a row needs; `ahead`: registers hold the next rows, too, which are asked for before these
// are computed; `fetch`: where they don't, caches are asked for them. The workers of `cluster`
// blocks share rows.
struct row_tuning {
  int workers, R, N, abreast, stages, hold, per_unit;
  bool shared;
  bool ahead = false;
  int cluster = 1;
  int blocks = 1;
  bool fetch = false;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / rows.hpp))
#include TK_CHIP(tune / rows.hpp)
#else
#include TK_BACKEND(tune/rows.hpp)
#endif
