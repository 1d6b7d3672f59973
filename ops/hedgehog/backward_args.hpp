// SPDX-License-Identifier: MIT
// What the kernels of Hedgehog's backward share. With dP_ij = (dout_i v_j - dout_i o_i) / sum_i,
// the gradient of a weight p_ij + l_ij, and sum_i the normaliser:
//   rows       1 / sum_i and dout_i o_i / sum_i of each query
//   queries    forward over blocks, with S and z: gradients of features of q, from l
//   keys       backward over blocks, with R = sum of alpha phi(q_i) (x) dout_i / sum_i and the like
//              for z: gradients of features of k, those of v from l, and of the initial states
//   window     dq of a block of queries, dk and dv of a block of keys, from p and from the above
//   maps       dmap = sum of x^T du over tokens
// The largest score of a window counts as a function of q and k: dp_ij goes, with its sign turned,
// to where it is. Where several scores are the largest, each gets its part.
#pragma once
#include "backends/kernel.hpp"
#include "core/partial_tiles.hpp"
#include "core/vector.hpp"
#include "ops/hedgehog/features.hpp"
#include "ops/hedgehog/tuning.hpp"

namespace tk {

template <class T> struct hedgehog_backward_sizes {
  static constexpr auto tune = be::tune_hedgehog_backward();
  static constexpr int workers = tune.workers, parts = 2 / workers, C = hedgehog_block,
                       D = hedgehog_width, F = hedgehog_features, P = D / 2,
                       segment = hedgehog_segment;
  static_assert(workers == 1 || workers == 2);
  struct args {
    be::source<T, C, D> q, k, v, o, dout;
    be::source<T, D, F> map_q, map_k;
    be::source<T, P, F> half_q, half_k;  // of a map, P rows of it
    be::sink<T, C, P> dq, dk, dv;
    strided_numbers alpha, beta;
    query_numbers normaliser;
    hedgehog_rows rows;
    int batches;  // of q in memory
    float scale, scale_log2;
    tensor<float const> initial, dfinal;
    tensor<float> dinitial;
    int initial_width, dfinal_width, dinitial_width;  // vector widths
    state_sums initial_sums, dfinal_sums, dinitial_sums;
    // Of queries: 1 / sum, dout o / sum, the largest score, and what that gets.
    query_numbers inverse, delta, top, edge;
    tensor<float> du_q[parts], du_k[parts], linear_dv[parts];  // of each task's features
    float *alpha_sums, *beta_sums;                             // [b, h, 2]; [blocks of keys, h]
    partial_tiles<P, F> dmaps;                                 // [segments of keys, h, 2]
  };
  static TK_DEVICE float* row(query_numbers const& x, int batch, int head, int n) {
    return x.data + batch * x.b_stride + head * x.h_stride + n;
  }
  // Of a block of queries; 0 behind them.
  static TK_DEVICE reg_col<float, C> column(query_numbers const& x, hedgehog_rows::place const& of,
                                            int head, hedgehog_rows::rows_of_block const& at) {
    return load_col<C>(static_cast<float const*>(row(x, of.batch, head, at.row)), at.n, 0.f);
  }
  // A block of keys, counted through all sequences, as a task.
  struct block_task {
    int sequence, head, part, number, steps;  // number: of the block, in its sequence
    int block;                                // that, or -1 where it has no key
    hedgehog_rows::place at;
  };
  static TK_BOTH int block_tasks(args const& a, int height, int of_block = parts) {
    return a.rows.keys.blocks(height) * a.rows.keys.h * of_block;
  }
  static TK_BOTH block_task block_task_at(args const& a, int i, int height, int of_block = parts) {
    auto const& keys = a.rows.keys;
    block_task t{};
    t.part = i % of_block;
    t.head = i / of_block % keys.h;
    int const block = i / (of_block * keys.h);
    t.sequence = keys.sequence_of(block, height);
    t.at = a.rows.sequence(t.sequence);
    t.number = block - keys.first_block(t.sequence, height);
    bool const is_there = t.number >= 0 && t.number * height < t.at.n;  // else there is only room
    t.block = is_there ? t.number : -1;
    return t;
  }
  // Keys whose features count in any state: whole blocks before the last one.
  static TK_BOTH int linear_blocks(hedgehog_rows::place const& at) {
    int const whole = at.n / C - 1;
    return whole > 0 ? whole : 0;
  }
  template <class X, class Source>
  static TK_DEVICE void load_queries(X& to, Source const& from, hedgehog_rows::place const& of,
                                     int head, int block, be::arrival done) {
    auto const at = of.queries(block);
    load_async(to, window(from, at.row, 0, head, of.batch, at.row + at.n), done);
  }
  // There is none before the first.
  template <class X, class Source>
  static TK_DEVICE void load_keys(X& to, Source const& from, hedgehog_rows::place const& of,
                                  int head, int block, be::arrival done) {
    int const end = of.first + of.n, row = block < 0 ? end : of.first + block * C;
    load_async(to, window(from, row, 0, head, of.batch, end), done);
  }
  // The gradient of u of a block of tokens, rounded; 0 from `end` on.
  static TK_DEVICE reg_tile<T, C, F> sum_of(tensor<float> const (&x)[parts], int row, int end,
                                            int head, int batch) {
    reg_tile<float, C, F> sum = 0.f;
    TK_UNROLL
    for (auto const& part : x) add_rows(sum, part, row, end, 0, head, batch);
    return cast<T>(sum);
  }
  // Where the workers of a block have both halves: `x` of either goes through shared memory, and
  // `mine` gets what the other one has put there.
  using exchanged = std::conditional_t<parts == 1, shared_partial<C, F>, no_memory>;
  template <class Context>
  static TK_DEVICE void exchange(Context& c, reg_tile<float, C, F>& mine,
                                 reg_tile<float, C, F> const& x) {
    meet(c);  // all have read what was there
    store(c.scratch.exchanged, x);
    meet(c);  // it is there
    load(mine, c.scratches[1 - c.w.id()].exchanged);
  }
  template <class Context> static TK_DEVICE void meet(Context& c) {
    c.all.arrive();
    c.all.await();
  }
  // Leaves the gradient of u of some tokens: of a task's features.
  template <class Context>
  static TK_DEVICE void leave_du(Context& c, tensor<float> const (&to)[parts], int part,
                                 reg_tile<float, C, F>& u, int row, int end, int head, int batch) {
    if constexpr (parts == 1) {
      reg_tile<float, C, F> other;
      exchange(c, other, u);
      if (c.w.id() != 0) return;
      u = u + other;
    }
    store_direct(rows_before(to[part], end), row, 0, head, batch, cast<float>(u), 2);
  }
  template <int R, int N>
  static TK_DEVICE void add_rows(reg_tile<float, R, N>& to, tensor<float> const& x, int row,
                                 int end, int col, int head, int batch) {
    tensor<float const> const from{
        x.data,   x.rows < end ? x.rows : end, x.cols, x.row_stride, x.n0, x.stride0, x.n1,
        x.stride1};
    add_scaled(to, 1.f, from, 4, row, col, head, batch);
  }
};

struct is_one {
  TK_DEVICE float operator()(float x) const { return x == 1.f ? 1.f : 0.f; }
};

}  // namespace tk
