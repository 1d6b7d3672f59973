// SPDX-License-Identifier: MIT
// The part of the workspace that mamba2's ops share: scans, and the tables of steps.
#pragma once
#include <algorithm>

#include "ops/linear_attention/scan.hpp"
#include "ops/mamba2/plan.hpp"

namespace tk {

struct mamba2_layout {
  explicit mamba2_layout(mamba2_inputs_given const& x)
      : of(x.x, std::max(x.x.d, x.B.d), {nullptr, true, false, 0, 0, 0}, x.starts) {
    of.lay_out_decays(workspace);
    auto const h = static_cast<std::size_t>(x.x.h);
    weights = workspace.add(static_cast<std::size_t>(of.chunks()) * h *
                            static_cast<std::size_t>(of.chunk()) * sizeof(float));
    if (x.D.given) skip = workspace.add(h * static_cast<std::size_t>(x.x.d) * sizeof(float));
  }
  step_tables tables(void* memory) const {
    return {of.decays(memory), in_workspace<float>(memory, weights),
            skip > 0 ? in_workspace<float>(memory, skip) : nullptr};
  }

  workspace_layout workspace;
  scans<ssm_scans> of;
  std::size_t weights = 0, skip = 0;
};

// Fills the tables.
void take_steps(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace,
                void* stream);
// The scan of the forward: o of x, without its gate.
scan_problem scan_of(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace);

}  // namespace tk
