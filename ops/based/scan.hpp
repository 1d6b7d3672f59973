// SPDX-License-Identifier: MIT
// Based's scan on the host: what it wants of a workspace, and its launch.
#pragma once
#include "ops/based/plan.hpp"

namespace tk {

// Throws what it can't do; the query and the launch lay out the workspace with the same calls.
class based_scans {
 public:
  based_scans(workspace_layout& workspace, based_problem const& x);
  scan_rows const& rows() const { return rows_; }
  // `normalisers`: [b, h, n], or null; a step of decoding leaves none.
  void launch(based_problem const& x, float* normalisers, void* workspace, void* stream) const;

 private:
  scan_rows rows_;
  bool steps_;    // one token of each sequence, by token_step.hpp
  int each_ = 0;  // segments of a task, where sequences are cut
  // States of segments and their sums, where sequences are cut; else a copy of the initial sums, if
  // others may be written to their place.
  std::size_t states_ = 0, sums_ = 0, copied_sums_ = 0;
};

}  // namespace tk
