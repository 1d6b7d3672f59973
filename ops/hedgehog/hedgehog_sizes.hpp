// SPDX-License-Identifier: MIT
// What Hedgehog's scan and that of its segments have in common.
#pragma once
#include "backends/kernel.hpp"
#include "core/partial_tiles.hpp"
#include "ops/hedgehog/plan.hpp"
#include "ops/hedgehog/tuning.hpp"
#include "ops/linear_attention/scan_walk.hpp"

namespace tk {

template <class T> struct hedgehog_sizes {
  static constexpr auto tune = be::tune_hedgehog();
  static constexpr int workers = tune.workers, block_workers = workers + tune.readers, P = tune.P,
                       V = workers * P, C = hedgehog_block, D = hedgehog_width,
                       F = hedgehog_features, parts = D / V;
  static_assert(D % V == 0);
  struct args {
    be::source<T, C, D> q, k;
    be::source<T, C, V> v;
    be::source<T, D, F> map_q, map_k;
    be::sink<T, C, P> o;
    strided_numbers alpha, beta;
    query_numbers normaliser;  // data may be null
    hedgehog_rows rows;
    float scale_log2;
    tensor<float const> initial;  // S
    tensor<float> final;
    int initial_width, final_width;       // vector widths
    state_sums initial_sums, final_sums;  // z
    partial_tiles<D, P> states;           // of segments, heads and columns; data may be null
    float* sums;                          // z of segments and heads
    scan_walks walks, segments;           // of tasks that walk, and of those that sum
    divisor by_heads;
    bool adds_only;  // tasks that add nothing have been done by a step of decoding
  };
  static TK_BOTH scan_cut<C, hedgehog_segment> cut(args const& a) {
    return {a.rows.keys, a.walks, false};
  }
  static TK_BOTH std::int64_t state_of(args const& a, int block, int head, int col) {
    return (std::int64_t{block} * a.rows.keys.h + head) * (D / P) + col / P;
  }
  static TK_BOTH float* sums_of(args const& a, int block, int head) {
    return a.sums + (std::int64_t{block} * a.rows.keys.h + head) * D;
  }
  static TK_DEVICE void begin(reg_tile<float, D, P>& s, args const& a, int sequence, int head,
                              int col) {
    s = 0.f;
    if (a.initial.data) add_scaled(s, 1.f, a.initial, a.initial_width, 0, col, head, sequence);
  }
};

}  // namespace tk
