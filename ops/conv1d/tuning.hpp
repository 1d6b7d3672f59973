// SPDX-License-Identifier: MIT
// What conv1d lets a chip choose; the choices are in backends/<chip>/tune/conv1d.hpp:
//   tune_conv1d(element_bytes), tune_conv1d_backward(element_bytes)
#pragma once
#include "backends/select.hpp"

namespace tk {

// Each of `workers` walks R runs of tokens at a time, in N channels; `ahead` tokens at a time, and
// as many more are asked for before these are computed. With `per_unit` above 0 so many blocks
// share a multiprocessor (core/block.hpp, direct_op).
struct conv1d_tuning {
  int workers, R, N, ahead, per_unit;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / conv1d.hpp))
#include TK_CHIP(tune / conv1d.hpp)
#else
#include TK_BACKEND(tune/conv1d.hpp)
#endif
