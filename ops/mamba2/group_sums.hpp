// SPDX-License-Identifier: MIT
// Of each token and group dB = sum over heads of dt' dB_h, dC = sum over heads of dC_h, in fp32 and
// in the order of heads, rounded once. A task has a chunk of a group, a worker Q of its columns at
// a time.
#pragma once
#include "backends/kernel.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/mamba2/plan.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct group_sums {
  static constexpr int workers = be::chunk_workers, cluster = 1, stages = 3, own_slots = 1, R = 64,
                       Q = 32;
  struct stage {
    shared_tile<T, R, Q> dB[workers], dC[workers];
  };
  struct own {};
  struct scratch {};
  struct args {
    be::source<T, R, Q> dB_of_heads, dC_of_heads;
    be::sink<T, R, Q> dB, dC;
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
  static TK_BOTH int column_of(args const& a, int worker, int step) {
    return (step / a.sharing * workers + worker) * Q;
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const head = head_of(a, t, step), end = t.at.row + t.at.tokens;
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      int const col = column_of(a, w, step);
      load_async(s.dB[w], window(a.dB_of_heads, t.at.row, col, head, t.at.batch, end), done);
      load_async(s.dC[w], window(a.dC_of_heads, t.at.row, col, head, t.at.batch, end), done);
    }
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const id = c.w.id();
    reg_tile<float, R, Q> dB = 0.f, dC = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      reg_tile<T, R, Q> of_B, of_C;
      tk::load(of_B, x.dB[id]);
      tk::load(of_C, x.dC[id]);
      release_loaded(c.w, c.in);
      auto const place = a.layout.row(t.block, head_of(a, t, step), a.rows.h, a.C);
      dB = dB + of_B * load_col<R>(a.weights + place, t.at.tokens, 0.f);
      dC = dC + of_C;
      if ((step + 1) % a.sharing != 0) continue;
      int const col = column_of(a, id, step), end = t.at.row + t.at.tokens;
      tk::store(window(a.dB, t.at.row, col, t.group, t.at.batch, end), cast<T>(dB));
      tk::store(window(a.dC, t.at.row, col, t.group, t.at.batch, end), cast<T>(dC));
      dB = 0.f, dC = 0.f;
    }
  }
};

}  // namespace tk
