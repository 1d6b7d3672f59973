// SPDX-License-Identifier: MIT
// y = u silu(z) backward: dout = dy silu(z), dz = dy u silu'(z), in fp32, each rounded once. u
// comes rounded to T. Tokens of no sequence are not touched. A worker has a chunk of a head.
#pragma once
#include "backends/kernel.hpp"
#include "core/activation.hpp"
#include "core/reduce.hpp"
#include "ops/linear_attention/chunk_place.hpp"
#include "ops/mamba2/plan.hpp"
#include "ops/typed_heads.hpp"

namespace tk {

template <class T> struct gate_backward {
  static constexpr int workers = be::chunk_workers, cluster = 1, stages = 2, own_slots = 1, R = 64;
  struct stage {
    shared_tile<T, R, R> dy[workers], z[workers], y[workers];
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
    worker_heads heads;
    int steps;
    chunk_place at;
  };

  static TK_BOTH int tasks(args const& a) {
    return a.rows.blocks(a.C) * worker_heads::groups(a.rows.h, workers);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const groups = worker_heads::groups(a.rows.h, workers);
    auto const at = place_of_chunk(a.rows, i / groups, a.C);
    return {{i % groups * workers, a.rows.h}, at.tokens > 0 ? a.parts : 0, at};
  }
  template <class X> static TK_DEVICE auto place(X const& x, task const& t, int worker, int step) {
    return window(x, t.at.row, step * R, t.heads.of(worker), t.at.batch, t.at.row + t.at.tokens);
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      load_async(s.dy[w], place(a.dy, t, w, step), done);
      load_async(s.z[w], place(a.z, t, w, step), done);
      load_async(s.y[w], place(a.y, t, w, step), done);
    }
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const id = c.w.id();
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      reg_tile<T, R, R> dy, z, y;
      tk::load(dy, x.dy[id]);
      tk::load(z, x.z[id]);
      tk::load(y, x.y[id]);
      release_loaded(c.w, c.in);
      if (!t.heads.has(id)) continue;
      store(place(a.dout, t, id, step), cast<T>(dy * map<silu>(z)));
      if (a.wants_dz) store(place(a.dz, t, id, step), cast<T>(dy * y * map<silu_slope>(z)));
    }
  }
};

}  // namespace tk
