// SPDX-License-Identifier: MIT
// What attention lets a chip choose; the choices are in backends/<chip>/tune/attention.hpp:
// tune_attention_forward(d) and tune_attention_backward(d), for heads of up to d elements; with
// windows and packed sequences tune_attention_seen(d) and tune_attention_backward_seen(d), with all
// options, which take registers, tune_attention_general(d) and tune_attention_backward_general(d).
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

// dq in a launch of its own: M rows of queries per worker, N keys a step.
struct attention_queries_tuning {
  int workers, M, N, slots;
};

struct attention_backward_tuning {
  int workers;   // of a block
  int N;         // keys of a worker, or of all where they have the same
  int M;         // queries of a slot
  int slices;    // slots of queries in a step: workers share the rows of dq, and then its
                 // columns; or, where all have the same keys, each has a slice
  int parts;     // of the columns of dk, dv and dq: a task has one, and all of them for its scores
  int slots;     // tiles of dout or q, one part of their columns each; at least 2
  int ds_slots;  // steps of ds: with 2 the workers meet before they store it, with 3 after
  int group;     // heads whose tasks are dealt together, or more,
  int together = 256;                     // so that they are so many tasks
  int causal_group = 0;                   // the same under a causal mask, 0: group
  int causal_together = 0;                // and there, 0: together
  int dq_rows = 0;                        // of a worker's piece of dq, 0: M
  bool same_keys = false;                 // all workers have the same, and share dk and dv
  bool dq_by_slice = false;               // with own keys, too, a worker has a slice's dq
  int senders = 0;                        // warps that sums of dq leave by, where the chip has them
  bool dp_late = false;                   // dp is begun in registers that lse has left
  attention_queries_tuning queries = {};  // no workers: dq has no launch of its own; else same keys
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / attention.hpp))
#include TK_CHIP(tune / attention.hpp)
#else
#include TK_BACKEND(tune/attention.hpp)
#endif
