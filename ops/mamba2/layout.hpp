// SPDX-License-Identifier: MIT
// The part of the workspace that mamba2's ops share: scans, and the tables of steps.
#pragma once
#include "ops/linear_attention/scan.hpp"
#include "ops/mamba2/plan.hpp"

namespace tk {

// What a plan is for: a forward that may choose by how many heads and sequences there are, one that
// may not, or a backward.
enum class mamba2_pass { forward, forward_by_row, backward };

// Throws what it can't do.
struct mamba2_layout {
  mamba2_layout(mamba2_inputs_given const& x, mamba2_pass pass);
  step_tables tables(void* memory) const {
    auto const at = [&](std::size_t offset) {
      return offset > 0 ? in_workspace<float>(memory, offset) : nullptr;
    };
    return {of.decays(memory), at(weights), at(slopes), at(skip),
            side.each > 0 ? in_workspace<float>(memory, factors) : nullptr};
  }

  workspace_layout workspace;
  scans<ssm_scans> of;
  scans<ssm_scans>::side_cut side;
  std::size_t weights = 0, slopes = 0, skip = 0, factors = 0, sums = 0, kept = 0;
};

// Fills the tables.
void take_steps(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace,
                void* stream);
// Heads of a group share B and C.
head_shares shares_of(mamba2_inputs_given const& x);
// The scan of the forward: o of x, without its gate.
scan_problem scan_of(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace);

}  // namespace tk
