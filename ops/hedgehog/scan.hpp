// SPDX-License-Identifier: MIT
// What Hedgehog's launches are given.
#pragma once
#include "ops/hedgehog/plan.hpp"

namespace tk {

struct hedgehog_scan_problem {
  hedgehog_problem of;
  hedgehog_rows rows;
  float *states, *sums;  // of segments, where each is a task; null where sequences are
};

// What a compiled instance says of itself: tasks of a head.
struct hedgehog_run_sizes {
  int parts;
};

template <class T> struct hedgehog_run {
  static hedgehog_run_sizes sizes();
  static void launch(hedgehog_scan_problem const& x, void* stream);
};

}  // namespace tk
