// SPDX-License-Identifier: MIT
// What linear attention lets a chip choose; the choices are in
// backends/<chip>/tune/linear_attention.hpp: tune_linear_attention(d), for up to d columns of q and
// k, and chunk_workers, of the blocks whose workers have a chunk of a head each.
#pragma once
#include "backends/select.hpp"

namespace tk {

// Of workers side by side (side_scan.hpp): `units` at a time for outputs, `summers` for sums, and
// slots of each kind; who makes the weights lends so many registers. units 0: there are none.
struct side_tuning {
  int units = 0, summers = 0, slots = 0, gated_slots = 0, sum_slots = 0, lent = 0;
};

// Chunks of C tokens, P columns of v for each worker, `slots` chunks in shared memory; `segment`
// chunks are summed from 0. So many workers share the weights of a head: each makes those of
// C / share tokens. `together`: q S and p v run together, which takes registers. Where segments are
// summed alone a slot has less, and there are `sum_slots`; where meetings are left it has more, and
// there are `met_slots`; 0: `slots`, too.
//   In a family that weighs (ops/mamba2) one worker may keep a unit's state and so many `readers`
// make its outputs (chunk_walk.hpp); 0: workers have a unit each. A slot with a gate has more, and
// there are `gated_slots`; 0: `slots`. `lends`: readers leave registers to the keeper.
struct linear_attention_tuning {
  int workers, share = 1, C, P, slots, segment;
  bool together;
  int sum_slots = 0, met_slots = 0;
  int readers = 0, gated_slots = 0;
  bool lends = false;
  side_tuning side{};
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / linear_attention.hpp))
#include TK_CHIP(tune / linear_attention.hpp)
#else
#include TK_BACKEND(tune/linear_attention.hpp)
#endif
