// SPDX-License-Identifier: MIT
// The part of the workspace that mamba2's ops share: scans, and the tables of steps.
#pragma once
#include "ops/linear_attention/scan.hpp"
#include "ops/mamba2/plan.hpp"

namespace tk {

// Throws what it can't do.
struct mamba2_layout {
  mamba2_layout(mamba2_inputs_given const& x, bool with_slopes);
  step_tables tables(void* memory) const {
    auto const at = [&](std::size_t offset) {
      return offset > 0 ? in_workspace<float>(memory, offset) : nullptr;
    };
    return {of.decays(memory), at(weights), at(slopes), at(skip)};
  }

  workspace_layout workspace;
  scans<ssm_scans> of;
  std::size_t weights = 0, slopes = 0, skip = 0;
};

// Fills the tables.
void take_steps(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace,
                void* stream);
// Heads of a group share B and C.
head_shares shares_of(mamba2_inputs_given const& x);
// The scan of the forward: o of x, without its gate.
scan_problem scan_of(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace);

}  // namespace tk
