// SPDX-License-Identifier: MIT
// What Based lets a chip choose; the choice is in backends/<chip>/tune/based.hpp: tune_based().
#pragma once
#include "backends/select.hpp"

namespace tk {

// Chunks of C tokens, P columns of v for each worker, `slots` chunks in shared memory; `segment`
// chunks are summed from 0. Outputs come from a worker that keeps a unit's state and so many
// `readers`, with `reader_slots` chunks in shared memory (based_walk.hpp); 0: from workers that
// have a unit each (based_scan.hpp).
struct based_tuning {
  int workers, C, P, slots, segment, readers = 0, reader_slots = 0;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / based.hpp))
#include TK_CHIP(tune / based.hpp)
#else
#include TK_BACKEND(tune/based.hpp)
#endif
