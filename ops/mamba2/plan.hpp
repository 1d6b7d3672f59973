// SPDX-License-Identifier: MIT
// What mamba2's kernels beside the scans take: the tables that ops/mamba2/steps.hpp makes.
#pragma once
#include "ops/linear_attention/plan.hpp"
#include "ops/mamba2/problem.hpp"

namespace tk {

struct step_tables {
  decay_table decays;
  float* weights;  // dt', laid out as decays
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

}  // namespace tk
