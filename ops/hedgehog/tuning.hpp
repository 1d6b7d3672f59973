// SPDX-License-Identifier: MIT
// What Hedgehog lets a chip choose; the choices are in backends/<chip>/tune/hedgehog.hpp:
// tune_hedgehog(), tune_hedgehog_backward().
#pragma once
#include "backends/select.hpp"

namespace tk {

// P columns of v for each worker, `slots` tiles of 64 rows in shared memory; `resident`: so are
// both maps, else they come again for each block. Besides a worker that keeps a head's state and
// has all columns there may be so many `readers` (hedgehog_walk.hpp), whose maps are resident.
struct hedgehog_tuning {
  int workers, P, slots;
  bool resident;
  int readers = 0;
};

// 1 or 2 workers, who have half of the features or columns each; `slots` tiles of 64 rows, at least
// 2; `resident`: a block's keys and values stay in shared memory besides. Where several
// `window_blocks` share a multiprocessor, those of the window have one worker with all columns, and
// so many `window_slots`.
struct hedgehog_backward_tuning {
  int workers, slots;
  bool resident;
  int window_blocks = 1, window_slots = 0;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / hedgehog.hpp))
#include TK_CHIP(tune / hedgehog.hpp)
#else
#include TK_BACKEND(tune/hedgehog.hpp)
#endif
