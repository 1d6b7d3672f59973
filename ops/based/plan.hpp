// SPDX-License-Identifier: MIT
// What the query, the launches and the kernels of Based share; sequences are cut as those of linear
// attention (ops/linear_attention/plan.hpp).
#pragma once
#include "ops/based/moments.hpp"
#include "ops/based/problem.hpp"
#include "ops/linear_attention/plan.hpp"

namespace tk {

inline constexpr float least_normaliser = 1e-6f;

// One scan, as ops/based/based_scan.hpp has it.
struct based_scan_problem {
  heads q, k, v, o;
  scan_rows rows;
  state_tensor initial, final;
  moment_sums initial_sums, final_sums;  // of a scan that normalises
  float* normalisers;                    // [tokens of all batches, h]; may be null
  float scale;
  float* states;       // of segments, where sequences are cut, else null
  float* sums;         // and their sums
  int each;            // segments of a task then
  float* copied_sums;  // [b, h, 153]: of the initial ones, where final ones may overwrite them
};

// What ops/based/token_kernels.hpp takes: moments of x, or dx of their gradients, which are one
// tensor or the sum of two, those of a query or not; g, and v with a column of ones.
struct moments_to_expand {
  heads x, to;
  scan_rows rows;
  bool weighted;
  float scale;
};
struct moments_to_contract {
  heads x, grads[2];
  int parts;  // of grads
  heads to;
  scan_rows rows;
  bool weighted;
  float scale;
};
struct outputs_to_divide {
  heads dout, o, v, divided, wide_v;
  float const* normalisers;
  scan_rows rows;
};
// What ops/based/place_states.hpp takes: a state and its sums, which may be absent, and where they
// are [b, h, 160, columns], or come back from.
struct states_to_place {
  state_tensor state;
  moment_sums sums;
  float* placed;
  int b, h, dv, columns;
  bool back;
};

// What a compiled instance says of itself.
struct based_sizes {
  int C, segment, workers, P;
  int sum_cost;  // of a chunk whose segment is summed, in quarters of one that is walked
  int units(std::int64_t columns) const { return ceil_div(static_cast<int>(columns), P); }
  // Tasks of a sequence, or of a segment.
  std::int64_t tasks(std::int64_t h, std::int64_t columns) const {
    return (h * units(columns) + workers - 1) / workers;
  }
  std::int64_t state_size() const { return std::int64_t{P} * based_moments::columns; }
};

}  // namespace tk
