// SPDX-License-Identifier: MIT
// What quantise lets a chip choose beside its rows; the choice is in
// backends/<chip>/tune/quantise.hpp: tune_quantise_squares().
#pragma once
#include "backends/select.hpp"

namespace tk {

// `workers` of a block share a square of 128 x 128; with `per_unit` above 0 so many blocks share a
// multiprocessor (core/block.hpp, direct_op).
struct quantise_squares_tuning {
  int workers, per_unit;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / quantise.hpp))
#include TK_CHIP(tune / quantise.hpp)
#else
#include TK_BACKEND(tune/quantise.hpp)
#endif
