// SPDX-License-Identifier: MIT
// The part of the workspace that mamba2's ops share: scans, and the tables of steps.
#pragma once
#include <algorithm>

#include "ops/linear_attention/scan.hpp"
#include "ops/mamba2/plan.hpp"

namespace tk {

struct mamba2_layout {
  mamba2_layout(mamba2_inputs_given const& x, bool with_slopes)
      : of(x.x, std::max(x.x.d, x.B.d), {nullptr, true, false, 0, 0, 0}, x.starts) {
    of.lay_out_decays(workspace);
    auto const h = static_cast<std::size_t>(x.x.h);
    std::size_t const table = static_cast<std::size_t>(of.chunks()) * h *
                              static_cast<std::size_t>(of.chunk()) * sizeof(float);
    weights = workspace.add(table);
    if (with_slopes) slopes = workspace.add(table);
    if (x.D.given) skip = workspace.add(h * static_cast<std::size_t>(x.x.d) * sizeof(float));
  }
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
// The scan of the forward: o of x, without its gate.
scan_problem scan_of(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace);

}  // namespace tk
