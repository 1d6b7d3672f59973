// SPDX-License-Identifier: MIT
// What norm lets a chip choose; the choices are in backends/<chip>/tune/norm.hpp:
//   norm_classes         classes below it are for rows that fit into their tiles; what fits in one
//                        fits in the next. Class norm_classes is for longer rows, in pieces
//   tune_norm(class, element_bytes)
//   norm_shifts(class)   whether it takes rows that don't begin and end at multiples of 16 bytes;
//                        where none does, such rows move element by element
//   norm_in_turn         tasks, norm_tasks_per_unit for each multiprocessor, take rows in turn;
//   else
//                        each has rows side by side
#pragma once
#include "backends/select.hpp"

namespace tk {

// Tiles of R rows by N columns in registers: each worker has rows of its own, or the workers share
// R rows of `workers` times N columns. `stages` slots of such tiles for all workers, below 2
// where rows go straight to registers; weights of up to `hold` bytes an element stay in registers.
struct norm_tuning {
  int workers, R, N, stages, hold;
  bool shared;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / norm.hpp))
#include TK_CHIP(tune / norm.hpp)
#else
#include TK_BACKEND(tune/norm.hpp)
#endif
