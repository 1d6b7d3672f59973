// SPDX-License-Identifier: MIT
// What the scan of chunks (chunk_scan.hpp) and that of segments (segment_scan.hpp) have in common.
#pragma once
#include "backends/kernel.hpp"
#include "core/partial_tiles.hpp"
#include "core/vector.hpp"
#include "ops/linear_attention/scan_walk.hpp"
#include "ops/linear_attention/tuning.hpp"

namespace tk {

struct linear_scans {
  static constexpr bool weighs = false, scales = true, keeps = false;
  static constexpr linear_attention_tuning tune(int d) { return be::tune_linear_attention(d); }
};

template <class T, int D, class Family> struct chunk_scan_sizes {
  static constexpr auto tune = Family::tune(D);
  static constexpr int workers = tune.workers, share = tune.share, teams = workers / share,
                       C = tune.C, P = tune.P, segment = tune.segment;
  static_assert(C % (16 * share) == 0 && C <= longest_chunk && workers % share == 0);
  struct args {
    be::source<T, C, D> q, k;
    be::source<T, C, P> v;
    be::sink<T, C, P> o;
    struct {
      divisor by_q, by_k, by_v;
    } shares;
    decay_table decays;
    scan_rows rows;
    int columns, units;  // of v: columns of a head, and units
    // Heads that share q and k, the parts of their units, one each worker, and groups of such
    // heads.
    int sharing, parts, groups;
    divisor by_units, by_parts, by_groups, by_heads;
    tensor<float const> initial;
    tensor<float> final;
    int initial_width, final_width;  // vector widths
    bool transposed, reversed;       // states are [.., columns of v, columns of k]
    float scale, initial_scale, final_scale;
    partial_tiles<D, P> states;  // of segments, heads and units; data may be null
    scan_walks walks, segments;  // of tasks that walk, and of those that sum
    packed_tiles<D, P> kept;     // of chunks, heads and units
    // Of a family that keeps.
    be::sink<T, D, P> chunk_states;
    bool keeps;
    // Of a family that weighs: weights as decays, skip[h, columns of v]; each may be null.
    float const *weights, *skip;
    // Of workers side by side.
    side_sums side;
    int side_parts, sum_parts;
    divisor by_side_parts, by_sum_parts;
    be::source<T, C, P> gate;
    bool gated;
    be::source<T, C, P> met;
    float *meetings, *met_states;  // [chunks, h, units, C], and D of a reversed scan's states
  };
  // A worker's share of what heads with one q and k have, part by part. `mine`: there are so many
  // units; else the columns lie behind the last one.
  struct unit {
    int head, col, nth;
    bool mine;
  };
  static TK_BOTH unit unit_of(args const& a, int group, int part, int worker,
                              int of_part = workers) {
    int const at = part * of_part + worker, all = a.sharing * a.units;
    if (at >= all) return {group * a.sharing, a.units * P, 0, false};
    auto const of = a.by_units.of(at);
    return {group * a.sharing + of.quotient, of.rest * P, of.rest, true};
  }
  // The state of a segment or chunk, counted through all sequences.
  static TK_BOTH std::int64_t state_of(args const& a, int block, int head, int nth) {
    return (std::int64_t{block} * a.rows.h + head) * a.units + nth;
  }
  // What a sequence begins with.
  static TK_DEVICE void begin(reg_tile<float, D, P>& x, args const& a, int sequence, int head,
                              int col) {
    x = 0.f;
    if (!a.initial.data) return;
    if (a.transposed) add_scaled_transposed(x, a.initial_scale, a.initial, col, 0, head, sequence);
    else add_scaled(x, a.initial_scale, a.initial, a.initial_width, 0, col, head, sequence);
  }
  // Of a family that weighs: what counts of its tokens where a scan leaves their chunk.
  static TK_DEVICE reg_col<float, C> left_of_tokens(shared_vec<float, C> const& decay,
                                                    shared_vec<float, C> const& weight, int tokens,
                                                    bool reversed) {
    reg_col<float, C> const sum = load_col<C>(decay.data, tokens, reversed ? -inf : inf);
    if (reversed) return exp2(sum);
    reg_col<float, C> const left = exp2(decay.data[tokens - 1] - sum);
    return left * load_col<C>(weight.data, tokens, 0.f);
  }
  static TK_BOTH scan_cut<C, segment> cut(args const& a) { return {a.rows, a.walks, a.reversed}; }
  static TK_BOTH bool is_last(args const& a, scan_walk const& x) { return cut(a).is_last(x); }
  // Where segments are summed, each is a task.
  static TK_BOTH scan_cut<C, segment> into_segments(args const& a) {
    return {a.rows, a.segments, a.reversed};
  }
  // The tokens of a chunk of a sequence.
  static TK_BOTH int tokens(int n, int chunk) {
    int const left = n - chunk * C;
    return left < C ? left : C;
  }
};

}  // namespace tk
