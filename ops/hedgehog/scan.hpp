// SPDX-License-Identifier: MIT
// What Hedgehog's launches are given.
#pragma once
#include "ops/hedgehog/plan.hpp"

namespace tk {

inline hedgehog_rows rows_of(hedgehog_inputs const& x, scan_rows const& keys) {
  auto const b = static_cast<int>(x.starts.b), nq = static_cast<int>(x.q.n);
  return {keys, {x.starts.data, x.starts.given ? b : 0, nq, nq}, nq, x.lengths.data};
}

struct hedgehog_scan_problem {
  hedgehog_problem of;
  hedgehog_rows rows;
  float *states, *sums;  // of segments, where sequences are cut, else null
  int each;              // segments of a task then
  bool adds_only;        // a step of decoding has done all but to add keys to states
};

// What a compiled instance says of itself: tasks of a head.
struct hedgehog_run_sizes {
  int parts;
};

// The backward's, with its arrays in the workspace.
struct hedgehog_gradient_problem {
  hedgehog_backward_problem of;
  hedgehog_rows rows;
  float *inverse, *delta, *top, *edge;  // [h, b nq]
  float *du_q, *du_k, *linear_dv;       // [parts, b n, h, 64], and 128
  float *alpha_sums, *beta_sums, *dmaps;
};

template <class T> struct hedgehog_run {
  static hedgehog_run_sizes sizes();
  static void launch(hedgehog_scan_problem const& x, void* stream);
};

// Of steps of decoding (token_step.hpp).
template <class T> struct hedgehog_step_run {
  static void launch(hedgehog_scan_problem const& x, void* stream);
};

template <class T> struct hedgehog_backward_run {
  static void launch(hedgehog_gradient_problem const& x, void* stream);
};

}  // namespace tk
