// SPDX-License-Identifier: MIT
// y = u silu(z) backward, chunk by chunk of a head: dout = dy silu(z), dz = dy u silu'(z), in fp32,
// each rounded once. u comes rounded to T. Tokens of no sequence are not touched.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/reduce.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/mamba2/plan.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct gate_backward {
  static constexpr int workers = 1, cluster = 1, stages = 2, own_slots = 1, R = 64;
  struct stage {
    shared_tile<T, R, R> dy, z, y;
  };
  struct own {};
  struct scratch {};
  struct args {
    be::source<T, R, R> dy, z, y;
    be::sink<T, R, R> dout, dz;
    bool wants_dz;
    scan_rows rows;
    int C, parts;
  };
  struct task {
    int head, steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) { return a.rows.blocks(a.C) * a.rows.h; }
  static TK_BOTH task task_at(args const& a, int i, int) {
    auto const at = place_of_chunk(a.rows, i / a.rows.h, a.C);
    return {i % a.rows.h, at.tokens > 0 ? a.parts : 0, at};
  }
  template <class X> static TK_DEVICE auto place(X const& x, task const& t, int step) {
    return window(x, t.at.row, step * R, t.head, t.at.batch, t.at.row + t.at.tokens);
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    load_async(s.dy, place(a.dy, t, step), done);
    load_async(s.z, place(a.z, t, step), done);
    load_async(s.y, place(a.y, t, step), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      reg_tile<T, R, R> dy, z, y;
      tk::load(dy, x.dy);
      tk::load(z, x.z);
      tk::load(y, x.y);
      c.w.sync();  // all have read the slot
      c.in.release();
      tk::store(place(a.dout, t, step), cast<T>(dy * map<silu>(z)));
      if (a.wants_dz) tk::store(place(a.dz, t, step), cast<T>(dy * y * map<silu_slope>(z)));
    }
  }
};

}  // namespace tk
