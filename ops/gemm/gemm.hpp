// SPDX-License-Identifier: MIT
// d = activation(alpha op(a) op(b) + beta c + bias), op one of identity and transpose.
// Shapes    a[m, k] or [k, m], b[k, n] or [n, k], c and d[m, n], any m, n, k, batched; a bias by
//           rows or columns; bf16 or fp16 in, 16 bits or fp32 out; any strides, columns contiguous.
// Numerics  each element is one fp32 sum over k, upward in steps of K; the epilogue is fp32, and
//           the result is rounded once. k = 0 gives activation(beta c + bias).
// Order     repeatable bit for bit; tiles are taken `group` rows at a time for the L2 cache. Where
//           they don't fill the last round of blocks, some are cut along k (core/schedule.hpp) and
//           their pieces added upward in k; not so where rows must not depend on their number.
#pragma once
#include <algorithm>

#include "backends/kernel.hpp"
#include "core/accumulate.hpp"
#include "core/activation.hpp"
#include "core/partial_tiles.hpp"
#include "core/schedule.hpp"
#include "ops/gemm/problem.hpp"
#include "ops/gemm/tuning.hpp"

namespace tk {

template <class T, class Out, bool TransposeA, bool TransposeB, int Size, int Cluster> struct gemm {
  static constexpr auto tune = be::tune_gemm(Size);
  static constexpr int down = tune.down, across = tune.across, workers = down * across,
                       cluster = Cluster, stages = tune.stages, own_slots = 1, M = tune.M,
                       N = tune.N, K = tune.K, group = tune.group / cluster;
  static constexpr bool accumulates = true;                 // core/block.hpp
  static constexpr int rows = down * M, cols = across * N;  // of a block; a cluster's lie below it
  // Columns of d that leave at once.
  static constexpr int V = std::max(16, tune.out_bytes / int{sizeof(Out)});
  using a_tile = std::conditional_t<TransposeA, shared_tile<T, K, M>, shared_tile<T, M, K>>;
  using b_tile = std::conditional_t<TransposeB, shared_tile<T, N, K>, shared_tile<T, K, N>>;
  using sums = reg_tile<float, M, N>;

  struct stage {
    a_tile a[down];
    b_tile b[across];
  };
  struct own {};
  struct scratch {
    be::staging<Out, M, V> out;
  };
  static constexpr int staged = std::extent_v<be::staging<Out, M, V>>;
  static_assert(staged == 0 || N / V % staged == 0, "a task's stores take each tile as often");
  struct args {
    be::source<T, a_tile::rows, a_tile::cols> a;
    be::source<T, b_tile::rows / cluster, b_tile::cols> b;
    be::sink<Out, M, V> d;
    tensor<Out const> c;
    void const* bias;
    bias_kind bias_along;
    even_splits cut;
    partial_tiles<M, N> partials;  // a tile and a flag for each split, block and worker
    unsigned* flags;
    // Words: what is smaller some chips load like data, and wait for data on its way as well.
    int plain;  // d = op(a) op(b)
    int bias_is_fp32, a_batched, b_batched, c_batched;
    int c_vector_width, m, n, k, batch;
    float alpha, beta;
    activation_kind activation;
  };
  struct task {
    int row, col, batch, first, steps;
    int cut_tile, split;  // of a.cut; split is -1 for a whole tile
    int rank;
  };

  static TK_BOTH int tasks(args const& a) {
    return a.cut.splits * a.cut.pieces - a.cut.tiles +
           ceil_div(a.m, cluster * rows) * ceil_div(a.n, cols) * a.batch;
  }
  // First whole tiles; then the pieces, every split's first piece before any second one and splits
  // downward, so that a tile is finished after the pieces it waits for were dealt.
  static TK_BOTH task task_at(args const& a, int i, int rank) {
    int const tiles_down = ceil_div(a.m, cluster * rows), tiles_across = ceil_div(a.n, cols);
    int const each = tiles_down * tiles_across, whole = each * a.batch - a.cut.tiles;
    int split = -1;
    even_splits::piece piece{i, 0, ceil_div(a.k, K)};
    if (i >= whole) {
      split = a.cut.splits - 1 - (i - whole) % a.cut.splits;
      piece = a.cut.at(split, (i - whole) / a.cut.splits);
      piece.tile += whole;
    }
    int const batch = piece.tile / each;
    auto const at = grouped(piece.tile - batch * each, tiles_down, tiles_across, group);
    return {(at.row * cluster + rank) * rows,
            at.col * cols,
            batch,
            piece.first,
            piece.steps,
            piece.tile - whole,
            split,
            rank};
  }

  static TK_DEVICE void load(stage& s, args const& a, task const& t, int step, be::arrival done) {
    int const ia = a.a_batched ? t.batch : 0, ib = a.b_batched ? t.batch : 0;
    int const k = (t.first + step) * K;
    for (int i = 0; i < down; ++i) {
      int const row = t.row + i * M;
      if constexpr (TransposeA) load_async(s.a[i], window(a.a, k, row, ia), done);
      else load_async(s.a[i], window(a.a, row, k, ia), done);
    }
    for (int i = 0; i < across; ++i) {
      int const col = t.col + i * N;
      if constexpr (TransposeB) load_shared(s.b[i], window(a.b, col, k, ib), done);
      else load_shared(s.b[i], window(a.b, k, col, ib), done);
    }
  }

  // Of a tile that is cut: stores this piece's partial sum, or adds the others' to it and returns
  // true.
  static TK_DEVICE bool join(sums& sum, be::worker w, args const& a, task const& t, int rows) {
    if (t.steps == 0) return false;
    auto const place = [&](int split) { return (split * cluster + t.rank) * workers + w.id(); };
    int const mine = place(t.split);
    if (t.first > 0) {
      store(a.partials, mine, sum, rows);
      signal(w, a.flags + mine);
      return false;
    }
    for (int split = t.split + 1; a.cut.continues(split, t.cut_tile); ++split) {
      int const other = place(split);
      wait_for(w, a.flags + other);
      load_add(sum, a.partials, other, rows);
    }
    return true;
  }

  // What happens to V columns of sums at (row, col) before they leave.
  using part = reg_tile<float, M, V>;
  template <class Bias> using bias_row = loaded_row<Bias, M, V>;
  template <class Bias> static TK_DEVICE bias_row<Bias> row_bias(args const& a, int col) {
    if (a.bias_along != bias_kind::row) return {};
    return load_row<M, V>(static_cast<Bias const*>(a.bias) + col, a.n - col);
  }
  template <class Bias>
  static TK_DEVICE void finish(part& x, bias_row<Bias> const& bias, args const& a, int row, int col,
                               int batch) {
    x = x * a.alpha;
    if (a.beta != 0.f)
      add_scaled(x, a.beta, a.c, a.c_vector_width, row, col, a.c_batched ? batch : 0, 0);
    if (a.bias_along == bias_kind::row) x = x + bias;
    if (a.bias_along == bias_kind::column)
      x = x + load_col<M>(static_cast<Bias const*>(a.bias) + row, a.m - row, 0.f);
    switch (a.activation) {
      case activation_kind::none: break;
      case activation_kind::relu: x = map<relu>(x); break;
      case activation_kind::silu: x = map<silu>(x); break;
      case activation_kind::gelu_tanh: x = map<gelu_tanh>(x); break;
      case activation_kind::gelu_erf: x = map<gelu_erf>(x); break;
      case activation_kind::sigmoid: break;  // refused
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    sums sum = 0.f;
    int const i = c.w.id() / across, j = c.w.id() % across;
    accumulate<TransposeA, TransposeB, tune.turns>(
        sum, c, t.steps, [&](stage& s) -> a_tile const& { return s.a[i]; },
        [&](stage& s) -> b_tile const& { return s.b[j]; });
    int const row = t.row + i * M, col = t.col + j * N;
    if (row >= a.m || col >= a.n) return;
    if (t.split >= 0 && !join(sum, c.w, a, t, a.m - row)) return;
    auto const leave = [&](part const& x, int p) {
      store_async(c.w, window(a.d, row, col + p * V, t.batch), cast<Out>(x), c.scratch.out, p);
    };
    if (a.plain) [[likely]] {
      TK_UNROLL
      for (int p = 0; p < N / V; ++p) leave(columns<V>(sum, p), p);
      return;
    }
    // Long code, fetched once for all parts; the bias is loaded a part ahead.
    auto const finish_all = [&]<class Bias>(Bias) {
      auto bias = row_bias<Bias>(a, col);
      TK_ROLL
      for (int p = 0; p < N / V; ++p) {
        part x = take_columns<V>(sum);
        finish(x, bias, a, row, col + p * V, t.batch);
        bias = row_bias<Bias>(a, col + (p + 1) * V);
        leave(x, p);
      }
    };
    if (a.bias_is_fp32) finish_all(float{});
    else finish_all(Out{});
  }
};

}  // namespace tk
