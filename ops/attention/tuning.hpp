// SPDX-License-Identifier: MIT
// What attention lets a chip choose; the choices are in backends/<chip>/tune/attention.hpp:
// tune_attention_forward(d) and tune_attention_backward(d), for heads of up to d elements.
#pragma once
#include "backends/select.hpp"

namespace tk {

// M rows of queries per worker, N keys a step, `slots` tiles of keys or values in shared memory and
// `own_slots` of queries; `ahead` issues the next scores before a step's softmax, `turns` puts the
// workers in turn.
struct attention_tuning {
  int workers, M, N, slots, own_slots;
  bool ahead, turns;
};

// N keys per worker; a step takes `slices` slots of M queries, of each slot's tiles of dout and q
// as many as there are `parts` of their columns; a task owns one part of dk, dv and dq, and
// computes the scores with all of them. The workers share the slices of dq, and then their columns.
// `slots` tiles of dout or q in shared memory, 2 at least; ds of as many steps as `ds_slots`, 2 or
// 3: with 2 a worker meets the others before it stores ds, with 3 after. The tasks of `group`
// heads, or of so many that they are `together` tasks, are dealt together. `senders`: sums of dq
// leave by warps of their own.
struct attention_backward_tuning {
  int workers, N, M, slices, parts, slots, ds_slots, group;
  int together = 256;
  bool senders = false;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / attention.hpp))
#include TK_CHIP(tune / attention.hpp)
#else
#include TK_BACKEND(tune/attention.hpp)
#endif
