// SPDX-License-Identifier: MIT
// What Hedgehog lets a chip choose; the choices are in backends/<chip>/tune/hedgehog.hpp:
// tune_hedgehog().
#pragma once
#include "backends/select.hpp"

namespace tk {

// P columns of v for each worker, `slots` tiles of 64 rows in shared memory; `resident`: so are
// both maps, else they come again for each block.
struct hedgehog_tuning {
  int workers, P, slots;
  bool resident;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / hedgehog.hpp))
#include TK_CHIP(tune / hedgehog.hpp)
#else
#include TK_BACKEND(tune/hedgehog.hpp)
#endif
