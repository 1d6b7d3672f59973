// SPDX-License-Identifier: MIT
// Of each token and group dB = sum over heads of dt' dB_h, dC = sum over heads of dC_h, in fp32 and
// in the order of heads, rounded once. A task has a chunk of a group.
#pragma once
#include "backends/kernel.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/mamba2/plan.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct group_sums {
  static constexpr int workers = 1, cluster = 1, stages = 3, own_slots = 1, R = 64;
  struct stage {
    shared_tile<T, R, R> dB, dC;
  };
  struct own {};
  struct scratch {};
  struct args {
    be::source<T, R, R> dB_of_heads, dC_of_heads;
    be::sink<T, R, R> dB, dC;
    float const* weights;
    decay_table layout;
    scan_rows rows;
    int C, groups, sharing, parts;
  };
  struct task {
    int group, block, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) { return a.rows.blocks(a.C) * a.groups; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const block = i / a.groups;
    auto const at = place_of_chunk(a.rows, block, a.C);
    return {i % a.groups, block, at.tokens > 0 ? a.parts * a.sharing : 0, at};
  }
  // Columns in parts, in each all heads.
  static TK_BOTH int head_of(args const& a, task const& t, int step) {
    return t.group * a.sharing + step % a.sharing;
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const col = step / a.sharing * R, head = head_of(a, t, step), end = t.at.row + t.at.tokens;
    load_async(s.dB, window(a.dB_of_heads, t.at.row, col, head, t.at.batch, end), done);
    load_async(s.dC, window(a.dC_of_heads, t.at.row, col, head, t.at.batch, end), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    reg_tile<float, R, R> dB = 0.f, dC = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      reg_tile<T, R, R> of_B, of_C;
      tk::load(of_B, x.dB);
      tk::load(of_C, x.dC);
      c.w.sync();  // all have read the slot
      c.in.release();
      auto const place = a.layout.row(t.block, head_of(a, t, step), a.rows.h, a.C);
      dB = dB + of_B * load_col<R>(a.weights + place, t.at.tokens, 0.f);
      dC = dC + of_C;
      if ((step + 1) % a.sharing != 0) continue;
      int const col = step / a.sharing * R, end = t.at.row + t.at.tokens;
      tk::store(window(a.dB, t.at.row, col, t.group, t.at.batch, end), cast<T>(dB));
      tk::store(window(a.dC, t.at.row, col, t.group, t.at.batch, end), cast<T>(dC));
      dB = 0.f, dC = 0.f;
    }
  }
};

}  // namespace tk
