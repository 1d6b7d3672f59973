// SPDX-License-Identifier: MIT
// What Based's backward does with each token beside its scans: moments of q and k written out, and
// gradients of moments contracted to those of q or k; with the normaliser dout and v with a column
// more, in which the sum that divides has its gradient. A task has 64 tokens of a sequence, a
// worker those of a head; tokens of no sequence are neither read nor written.
// Numerics  fp32, rounded to T where it is written.
#pragma once
#include "backends/kernel.hpp"
#include "ops/based/based_scan.hpp"
#include "ops/based/features.hpp"
#include "ops/linear_attention/chunk_place.hpp"

namespace tk {

struct tokens_of_heads {
  static constexpr int R = 64, workers = be::chunk_workers;
  struct task {
    worker_heads heads;
    int steps;
    chunk_place at;
  };
  static TK_BOTH int tasks(scan_rows const& rows) {
    return rows.blocks(R) * worker_heads::groups(rows.h, workers);
  }
  static TK_BOTH task task_at(scan_rows const& rows, int i, int steps) {
    int const groups = worker_heads::groups(rows.h, workers);
    auto const at = place_of_chunk(rows, i / groups, R);
    return {{i % groups * workers, rows.h}, at.tokens > 0 ? steps : 0, at};
  }
};
// Of a worker.
template <class Tensor>
TK_DEVICE auto window_of_tokens(Tensor const& x, tokens_of_heads::task const& t, int worker,
                                int col) {
  return window(x, t.at.row, col, t.heads.of(worker), t.at.batch, t.at.row + t.at.tokens);
}
template <class X, class Sink>
TK_DEVICE void store_tokens(Sink const& to, tokens_of_heads::task const& t, int worker, int col,
                            X const& x) {
  if (t.heads.has(worker)) store(window_of_tokens(to, t, worker, col), x);
}
// 1 in column `col`, else 0.
template <int C> TK_DEVICE reg_tile<float, tokens_of_heads::R, C> one_in_column(int col) {
  reg_tile<float, tokens_of_heads::R, C> x;
  x = max(1.f - abs(cols(-col)), 0.f);
  return x;
}

// The columns of ops/based/moments.hpp of each token, with a query's weights or without.
template <class T> struct based_expand {
  static constexpr int workers = tokens_of_heads::workers, cluster = 1, stages = 2, own_slots = 1,
                       R = tokens_of_heads::R, D = based_moments::width, F = based_moments::columns;
  struct stage {
    shared_tile<T, R, D> x[workers];
  };
  struct own {};
  struct scratch {
    shared_tile<T, R, F> moments;
  };
  struct args {
    be::source<T, R, D> x;
    be::sink<T, R, F> to;
    scan_rows rows;
    bool weighted;
    float scale;
  };
  using task = tokens_of_heads::task;

  static TK_BOTH int tasks(args const& a) { return tokens_of_heads::tasks(a.rows); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    return tokens_of_heads::task_at(a.rows, i, 1);
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int, be::arrival done) {
    TK_UNROLL
    for (int w = 0; w < workers; ++w) load_async(s.x[w], window_of_tokens(a.x, t, w, 0), done);
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (t.steps == 0) return;
    int const w = c.w.id();
    reg_tile<T, R, D> x;
    tk::load(x, c.in.take().x[w]);
    release_loaded(c.w, c.in);
    reg_tile<T, R, F> moments;
    auto const put = [&](int tile, reg_tile<float, R, D> const& y) {
      reg_tile<T, R, D> const rounded = cast<T>(y);
      put_columns(moments, rounded, tile);
    };
    auto const weight = [&](int tile) {
      return a.weighted ? based_moments::weight(tile * D, a.scale) : 1.f;
    };
    reg_tile<float, R, D> y;
    for_each_partner(x, [&](auto tile, reg_tile<T, R, D> const& partner) {
      y = x * partner * weight(tile);
      if constexpr (tile == based_moments::products_with_one)
        y = choose_cols<based_moments::of_one>(y, one_in_column<D>(based_moments::of_one));
      put(tile, y);
    });
    y = x * weight(based_moments::linear);
    put(based_moments::linear, y);
    if (t.heads.has(w))
      store_async(c.w, window_of_tokens(a.to, t, w, 0), cast<T>(moments * 1.f), c.scratch.moments);
  }
};

// dx of the gradients of its moments, weighted ones or not, which are the sum of `parts` tensors.
template <class T> struct based_contract {
  static constexpr int workers = tokens_of_heads::workers, cluster = 1, stages = 2, own_slots = 1,
                       R = tokens_of_heads::R, D = based_moments::width, W = 2 * D,
                       pairs = based_moments::tiles / 2;
  struct stage {
    shared_tile<T, R, D> x[workers];
    shared_tile<T, R, W> grad[workers][pairs];  // of two tiles of moments each
  };
  struct own {};
  struct scratch {};
  struct args {
    be::source<T, R, D> x;
    be::source<T, R, W> grads[2];
    int parts;
    be::sink<T, R, D> to;
    scan_rows rows;
    bool weighted;
    float scale;
  };
  using task = tokens_of_heads::task;
  using tile_of_x = reg_tile<float, R, D>;

  static TK_BOTH int tasks(args const& a) { return tokens_of_heads::tasks(a.rows); }
  static TK_BOTH task task_at(args const& a, int i, int) {
    return tokens_of_heads::task_at(a.rows, i, a.parts);
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      load_async(s.x[w], window_of_tokens(a.x, t, w, 0), done);
      TK_UNROLL
      for (int i = 0; i < pairs; ++i)
        load_async(s.grad[w][i], window_of_tokens(a.grads[step], t, w, i * W), done);
    }
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (t.steps == 0) return;
    tile_of_x dx = 0.f;
    for (int part = 0; part < a.parts; ++part) {
      auto const& in = c.in.take();
      add(dx, a, in.x[c.w.id()], in.grad[c.w.id()]);
      release_loaded(c.w, c.in);
    }
    store_tokens(a.to, t, c.w.id(), 0, cast<T>(dx));
  }

 private:
  static TK_DEVICE void add(tile_of_x& dx, args const& a, shared_tile<T, R, D> const& of,
                            shared_tile<T, R, W> const (&grad)[pairs]) {
    reg_tile<T, R, D> x;
    tk::load(x, of);
    reg_tile<T, R, W> two;
    // The gradient of a tile, with its weight; of each in turn.
    auto const gradient = [&](int tile) {
      if (tile % 2 == 0) tk::load(two, grad[tile / 2]);
      auto const rounded = columns<D>(two, tile % 2);
      tile_of_x y;
      y = rounded * (a.weighted ? based_moments::weight(tile * D, a.scale) : 1.f);
      return y;
    };
    for_each_partner(x, [&](auto tile, reg_tile<T, R, D> const& partner) {
      tile_of_x g = gradient(tile);
      if constexpr (tile == 0) {
        dx = dx + g * x * 2.f;
      } else {
        if constexpr (tile == based_moments::products_with_one)
          g = choose_cols<based_moments::of_one>(g, tile_of_x(0.f));
        dx = dx + g * partner;
        tile_of_x to_partner;
        to_partner = g * x;
        dx = dx + back<tile>(to_partner);
      }
    });
    dx = dx + gradient(based_moments::linear);
  }
  // Column c of a tile is a product with column c ^ s: what is at c goes there.
  template <int Tile> static TK_DEVICE tile_of_x back(tile_of_x const& x) {
    constexpr int bit = based_moments::bit_of(Tile), without = based_moments::exchange(Tile, 0),
                  with = based_moments::exchange(Tile, bit);
    if constexpr (with == 0) return xor_cols<without>(x);
    else return choose_cols<bit>(xor_cols<with>(x), xor_cols<without>(x));
  }
};

// g = dout / z beside r = - dout.o / z, and v beside 1, in 16 columns more of which one counts; z
// with the least that it is.
template <class T> struct based_divide {
  static constexpr int workers = tokens_of_heads::workers, cluster = 1, stages = 2, own_slots = 1,
                       R = tokens_of_heads::R, W = 32;
  struct stage {
    shared_tile<T, R, W> dout[workers], o[workers], v[workers];
  };
  struct own {};
  struct scratch {
    shared_tile<T, R, W> divided, wide_v;
  };
  struct args {
    be::source<T, R, W> dout, o, v;
    be::sink<T, R, W> divided, wide_v;
    float const* normalisers;  // as ops/based/based_scan.hpp leaves them
    scan_rows rows;
    int dv;
  };
  using task = tokens_of_heads::task;
  using tile = reg_tile<float, R, W>;

  static TK_BOTH int tasks(args const& a) { return tokens_of_heads::tasks(a.rows); }
  // W columns after another, of which the last ones have r and 1.
  static TK_BOTH task task_at(args const& a, int i, int) {
    return tokens_of_heads::task_at(a.rows, i, a.dv / W + 1);
  }
  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    TK_UNROLL
    for (int w = 0; w < workers; ++w) {
      load_async(s.dout[w], window_of_tokens(a.dout, t, w, step * W), done);
      load_async(s.o[w], window_of_tokens(a.o, t, w, step * W), done);
      load_async(s.v[w], window_of_tokens(a.v, t, w, step * W), done);
    }
  }
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    if (t.steps == 0) return;
    int const w = c.w.id();
    auto const first = (std::int64_t{t.at.batch} * a.rows.h + t.heads.of(w)) * a.rows.n + t.at.row;
    auto const inverse =
        reciprocal(load_col<R>(a.normalisers + first, t.at.tokens, 1.f) + least_normaliser);
    reg_col<float, R> met = 0.f;
    for (int step = 0; step < t.steps; ++step) {
      auto const& x = c.in.take();
      reg_tile<T, R, W> dout, o, v;
      tk::load(dout, x.dout[w]);
      tk::load(o, x.o[w]);
      tk::load(v, x.v[w]);
      release_loaded(c.w, c.in);
      met = met + row_sum_share(dout * o);
      tile divided, wide_v;
      divided = dout * inverse;
      wide_v = v * 1.f;
      if (step + 1 == t.steps) {
        auto const one = one_in_column<W>(a.dv - step * W);
        divided = divided + one * (total(met) * inverse * -1.f);
        wide_v = wide_v + one;
      }
      if (!t.heads.has(w)) continue;
      store_async(c.w, window_of_tokens(a.divided, t, w, step * W), cast<T>(divided),
                  c.scratch.divided);
      store_async(c.w, window_of_tokens(a.wide_v, t, w, step * W), cast<T>(wide_v),
                  c.scratch.wide_v);
    }
  }
};

}  // namespace tk
