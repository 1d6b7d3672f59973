// SPDX-License-Identifier: MIT
// See layout.hpp; and the scans of the family.
#include "ops/linear_attention/scans.hpp"
#include "ops/mamba2/layout.hpp"

namespace tk {

template class scans<ssm_scans>;

mamba2_layout::mamba2_layout(mamba2_inputs_given const& x, bool with_slopes)
    : of(x.x, x.B.d, {nullptr, true, false, 0, 0, 0}, x.starts) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024;
  if (x.x.h * x.x.d > most)
    throw error(status::unsupported, "h p is " + std::to_string(x.x.h * x.x.d) +
                                         "; it must be at most " + std::to_string(most));
  of.lay_out_decays(workspace);
  auto const h = static_cast<std::size_t>(x.x.h);
  std::size_t const table = static_cast<std::size_t>(of.chunks()) * h *
                            static_cast<std::size_t>(of.chunk()) * sizeof(float);
  weights = workspace.add(table);
  if (with_slopes) slopes = workspace.add(table);
  if (x.D.given) skip = workspace.add(h * static_cast<std::size_t>(x.x.d) * sizeof(float));
}

}  // namespace tk
