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

// What ops/mamba2/step_gradients.hpp takes. dx comes with what the scan gives, per dt', and gets
// its share of the skip.
struct step_gradients_problem {
  heads x, dout, dx;
  decay_meetings met;
  scan_rows rows;
  step_tables tables;
  head_vector A;
  step_tensor ddt;
  head_vector dA, dD, ddt_bias;  // the last two may be absent
  // Sums of chunks, [chunks, stride]: of A, dt_bias and D of heads, and of D of columns.
  float *of_A, *of_bias, *of_D;
  int stride, D_stride;
};

// What ops/mamba2/group_sums.hpp takes: dB and dC of groups of what heads have.
struct group_sums_problem {
  heads dB_of_heads, dC_of_heads, dB, dC;
  float const* weights;
  decay_table layout;  // of weights
  scan_rows rows;
  int C;
};

}  // namespace tk
