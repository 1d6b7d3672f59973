// SPDX-License-Identifier: MIT
// What topk lets a chip choose; the choices are in backends/<chip>/tune/topk.hpp:
//   tune_topk()        of rows in general
//   tune_topk_short()  of short rows, of which few numbers are wanted
#pragma once
#include "backends/select.hpp"

namespace tk {

// `workers` of a block share a row. With `per_unit` above 0 blocks are small and many
// (core/block.hpp, direct_op), and have as many workers as a row needs. A lane reads `chunks` of 16
// bytes at once.
struct topk_tuning {
  int workers, per_unit, chunks;
};
// `workers` of a block have rows of their own, and `per_unit` is as above. Up to `most` numbers are
// taken of a row one after another.
struct topk_short_tuning {
  int workers, per_unit, most;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / topk.hpp))
#include TK_CHIP(tune / topk.hpp)
#else
#include TK_BACKEND(tune/topk.hpp)
#endif
