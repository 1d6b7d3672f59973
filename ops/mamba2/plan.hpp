// SPDX-License-Identifier: MIT
// What mamba2's kernels beside the scans take: the tables that ops/mamba2/steps.hpp makes.
#pragma once
#include "ops/linear_attention/plan.hpp"
#include "ops/mamba2/problem.hpp"

namespace tk {

struct step_tables {
  decay_table decays;
  float* weights;  // dt', laid out as decays
  float* slopes;   // of dt' by dt, laid out alike; or null
  float* skip;     // D as [h, p]; or null
  float* factors;  // in place of decays and weights (side_factors); or null
};
struct steps_to_take {
  step_tensor dt;
  head_vector A, D, dt_bias;
  float dt_min, dt_max;
  bool softplus;
  step_tables to;
  scan_rows rows;
  int C, p;
};

// What ops/mamba2/gate_backward.hpp takes: dout and dz of dy, z and what the gate was given.
struct gate_backward_problem {
  heads dy, z, y, dout, dz;  // dz may be absent
  scan_rows rows;
  int C;
};

// A task of chunk_gradients.hpp has so many heads of a group.
inline constexpr int heads_at_once = 16;
TK_BOTH int slices_of_group(int heads) {
  return heads > heads_at_once ? ceil_div(heads, heads_at_once) : 1;
}

// <S, G> of a chunk and head is left as so many sums.
inline constexpr int rows_of_met_states = 64;

// What ops/mamba2/chunk_gradients.hpp leaves for step_gradients.hpp, of tokens [chunks, h, C]. In
// the words of ops/linear_attention/decay_gradient.hpp m is before + sees - seen, and m' is after.
struct left_of_chunks {
  float *before, *sees, *seen, *after;
  float *direct, *skipped;  // x u, x dout; the second may be null
  float* states;            // [chunks, h, rows_of_met_states]
  float* skipped_columns;   // [chunks, h, p], x dout summed over tokens; may be null
};
struct chunk_gradients_problem {
  heads B, C, x, dout, dB, dC, dx;
  heads states, gradients;  // [chunks, D, h, p]
  step_tables tables;
  left_of_chunks left;
  float* slices;  // of groups (group_slices.hpp)
  scan_rows rows;
};

// What ops/mamba2/step_gradients.hpp takes.
struct step_gradients_problem {
  left_of_chunks left;
  scan_rows rows;
  int C, p;
  step_tables tables;
  head_vector A;
  step_tensor ddt;
  head_vector dA, dD, ddt_bias;  // the last two may be absent
  // Sums of chunks, [chunks, stride], of A, dt_bias and D of heads; of D of columns they are left.
  float *of_A, *of_bias, *of_D;
  int stride;
};

}  // namespace tk
