// SPDX-License-Identifier: MIT
// dB and dC of groups, from what the tasks of chunk_gradients.hpp have left of each slice of their
// heads: in fp32 and in the order of heads, rounded once. A task has a chunk of a group, one worker
// its dB, the other its dC.
#pragma once
#include "backends/kernel.hpp"
#include "core/block.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/mamba2/group_slices.hpp"
#include "ops/mamba2/tuning.hpp"

namespace tk {

template <class T, int D> struct group_sums {
  static constexpr int workers = 2, cluster = 1, stages = 1, own_slots = 1,
                       C = ssm_scans::tune(D).C;
  struct stage {};
  struct own {};
  struct scratch {};
  struct args {
    be::sink<T, C, D> dB, dC;
    group_slices<C, D> slices;
    scan_rows rows;
  };
  struct task {
    int block, group, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) { return a.rows.blocks(C) * a.slices.groups; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const block = i / a.slices.groups;
    return {block, i % a.slices.groups, 0, place_of_chunk(a.rows, block, C)};
  }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (t.at.tokens == 0) return;
    bool const of_C = c.w.id() == 1;
    reg_tile<float, C, D> sum;
    tk::load(sum, a.slices.sums, a.slices.nth(t.block, t.group, 0, of_C));
    for (int i = 1; i < a.slices.count; ++i)
      load_add(sum, a.slices.sums, a.slices.nth(t.block, t.group, i, of_C), t.at.tokens);
    int const end = t.at.row + t.at.tokens;
    store(window(of_C ? a.dC : a.dB, t.at.row, 0, t.group, t.at.batch, end), cast<T>(sum));
  }
};

}  // namespace tk
