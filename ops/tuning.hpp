// SPDX-License-Identifier: MIT
// What ops let a chip choose; the choices are in backends/<chip>/tune.hpp.
#pragma once

namespace tk {

// C tiles of `down` by `across` workers, each with M rows and N columns; K of k a step, `stages`
// steps in shared memory; `cluster` blocks share what they load of b, where that pays; `group` rows
// of tiles are walked together; `turns` puts the workers' products in turn. Results leave
// `out_bytes` of each row at once. A chip has gemm_sizes of these, the largest first; a step of
// each takes `step_cost`, in a unit of the chip's own, and the size is taken that is done first.
struct gemm_tuning {
  int down, across, M, N, K, stages, cluster, group;
  bool turns;
  int out_bytes, step_cost;
  constexpr int workers() const { return down * across; }
};
// What it costs a product to load rows that begin at bad places: nothing, some, or most of its
// time.
enum class load_cost { none, some, high };

// A task copies R rows of each worker by C columns.
struct repack_tuning {
  int workers, R, C;
};

// M rows of queries per worker, N keys a step, `slots` tiles of keys or values in shared memory and
// `own_slots` of queries; `ahead` issues the next scores before a step's softmax, `turns` puts the
// workers in turn.
struct attention_tuning {
  int workers, M, N, slots, own_slots;
  bool ahead, turns;
};

// Tiles of R rows by N columns in registers: each worker has rows of its own, or the workers share
// R rows of `workers` times N columns. `stages` slots of such tiles for all workers, below 2
// where rows go straight to registers; weights of up to `hold` bytes an element stay in registers.
// Classes below norm_classes are for rows that fit; what fits in one fits in the next. Class
// norm_classes is for longer rows, in pieces. norm_shifts(class): whether it takes rows that don't
// begin and end at multiples of 16 bytes; where none does, such rows move element by element.
// norm_in_turn: tasks, norm_tasks_per_unit for each multiprocessor, take rows in turn; else each
// has rows side by side.
struct norm_tuning {
  int workers, R, N, stages, hold;
  bool shared;
};

}  // namespace tk
