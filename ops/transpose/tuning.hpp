// SPDX-License-Identifier: MIT
// What transpose lets a chip choose; the choices are in backends/<chip>/tune/transpose.hpp:
//   tune_transpose(element_bytes)
#pragma once
#include "backends/select.hpp"

namespace tk {

// Each of `workers` has a tile of R rows by C columns of x. With `per_unit` above 0 so many blocks
// share a multiprocessor (core/block.hpp, direct_op).
struct transpose_tuning {
  int workers, R, C, per_unit;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / transpose.hpp))
#include TK_CHIP(tune / transpose.hpp)
#else
#include TK_BACKEND(tune/transpose.hpp)
#endif
