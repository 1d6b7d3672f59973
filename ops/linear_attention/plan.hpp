// SPDX-License-Identifier: MIT
// How sequences are cut: the same for the query, the launches and the kernels.
//   a chunk     C tokens, one step of a scan
//   a segment   `segment` chunks; states at its beginning are sums of whole segments, whoever adds
//               them up, so that a sequence may be one task's, or some of its segments are
//   a unit      P columns of v of a head, which one worker has
// Chunks and segments are counted from the first token of each sequence, in either direction.
#pragma once
#include "core/packed_rows.hpp"
#include "core/schedule.hpp"
#include "ops/linear_attention/problem.hpp"

namespace tk {

// The families of ops/linear_attention/chunk_scan.hpp.
struct linear_scans;
struct ssm_scans;  // ops/mamba2

// The sequences of a batch, or packed ones.
struct scan_rows {
  packed_rows packed;
  int n, b, h;  // tokens of each sequence of a batch, or of all; sequences, heads
  bool is_packed;

  struct place {
    int batch, first, n;  // where the sequence lies in its tensors
  };
  TK_BOTH place sequence(int s) const {
    if (!is_packed) return {s, 0, n};
    int const length = packed.length(s);
    return {0, packed.start(s), length > 0 ? length : 0};
  }
  // Blocks of some tokens; a sequence without any has room for one, too.
  TK_BOTH int blocks_of_sequence(int height) const { return n > 0 ? ceil_div(n, height) : 1; }
  TK_BOTH int first_block(int s, int height) const {
    return is_packed ? packed.first_block(s, height) : s * blocks_of_sequence(height);
  }
  TK_BOTH int blocks(int height) const {
    return is_packed ? packed.blocks(height) : b * blocks_of_sequence(height);
  }
  TK_BOTH int sequence_of(int block, int height) const {
    return is_packed ? packed.sequence_of(block, height) : block / blocks_of_sequence(height);
  }
};

inline constexpr int longest_chunk = 64;

// Running sums of the log2 of decays, within each chunk of each head; the last token's value stands
// for the places behind it. One chunk stands for all where a head's decay is one number.
struct decay_table {
  float* data;  // [chunks, h, C]
  bool constant;
  TK_BOTH std::int64_t row(int chunk, int head, int heads, int C) const {
    return (std::int64_t{constant ? 0 : chunk} * heads + head) * C;
  }
};

// Of each token of a chunk (side_scan.hpp): the running sum of log2 of decays; its weight; what is
// kept of the state that the chunk meets; and what counts of the token where the chunk ends.
// float[chunks, h, count, C].
struct side_factors {
  enum { decay, weight, kept, counted, count };
};

// Of a scan by workers side by side; factors are null in others. Sums are of `each` chunks, and
// kept is what is left over them of what they began with, [sums, h].
struct side_sums {
  float const* factors;
  float* kept;
  int each;
};

// What ops/linear_attention/chunk_decays.hpp takes: log_decay[b, n, h] or, where constant, minus a
// decay[h].
template <class T> struct decays_to_sum {
  T const* from;
  std::int64_t b_stride, n_stride, h_stride;
  decay_table to;
  scan_rows rows;
  int C;
};

// How many neighbouring heads share one of q, k or v.
struct head_shares {
  int q = 1, k = 1, v = 1;
  // Those that share both q and k.
  TK_BOTH int both() const { return q == k ? q : 1; }
};

// One scan: o of q, k, v as ops/linear_attention/chunk_scan.hpp has it.
struct scan_problem {
  heads q, k, v, o;
  decay_table decays;  // data is null where nothing decays
  scan_rows rows;
  state_tensor initial, final;
  bool transposed;  // they are [b, h, columns of v, columns of k]
  float scale, initial_scale, final_scale;
  bool reversed;
  bool may_step;  // one token of each sequence may have bits of its own, by token_step.hpp
  float* states;  // of segments, where sequences are cut, else null
  int each;       // segments of a task then
  head_shares shares;
  float const *weights, *skip;  // of a family that weighs; null in others
  heads gate;                   // data may be null
  // Of a scan that leaves meetings, which decays; else null.
  heads met;
  float* meetings;    // [chunks, h, units, C]
  float* met_states;  // [chunks, h, units, D], of a reversed one
  void* kept;         // the states that the first one's chunks meet, of q's type
  // Of a family that keeps: the states that chunks meet, in place of o; data may be null.
  heads chunk_states;  // [chunks, D, h, columns of v]
  side_sums side;      // `each`: chunks of a walk then
};

// What two scans of a backward leave for the gradients of decays, the first and the reversed one.
struct decay_meetings {
  float const* of[2];   // [chunks, h, units, C]
  float const* states;  // [chunks, h, units, D]
  int units, C, D;
  decay_table decays;
};

// What ops/linear_attention/decay_gradient.hpp takes.
struct decay_gradient_problem {
  decay_meetings met;
  scan_rows rows;
  float scale;  // of all
  decay_gradients to;
  float* totals;  // of heads, [chunks, stride], where they have one decay each
  int stride;
};

// What a compiled instance says of itself.
struct scan_sizes {
  int C, segment, workers, share, P, D;
  bool lone;                // each unit is a task
  int side_units, summers;  // of a part of a group, side by side; 0: never
  // As many for each head as so many workers have together.
  int units(std::int64_t columns) const {
    return ceil_div(static_cast<int>(columns), P * share) * share;
  }
  std::int64_t state_size(std::int64_t columns) const {
    return std::int64_t{units(columns)} * D * P;
  }
  // Tasks of a sequence, or of a segment.
  std::int64_t tasks(std::int64_t h, head_shares const& shares, std::int64_t columns) const {
    if (lone) return h * units(columns);
    return h / shares.both() * ceil_div(shares.both() * units(columns), workers);
  }
};

}  // namespace tk
