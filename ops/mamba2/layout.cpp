// SPDX-License-Identifier: MIT
// See layout.hpp; and the scans of the family.
#include "ops/linear_attention/scans.hpp"
#include "ops/mamba2/layout.hpp"

namespace tk {

template class scans<ssm_scans>;

mamba2_layout::mamba2_layout(mamba2_inputs_given const& x, mamba2_pass pass)
    : of(x.x, x.B.d, {nullptr, true, false, 0, 0, 0}, x.starts) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024;
  if (x.x.h * x.x.d > most)
    throw error(status::unsupported, "h p is " + std::to_string(x.x.h * x.x.d) +
                                         "; it must be at most " + std::to_string(most));
  auto const h = static_cast<std::size_t>(x.x.h), chunks = static_cast<std::size_t>(of.chunks()),
             table = chunks * h * static_cast<std::size_t>(of.chunk()) * sizeof(float);
  if (pass == mamba2_pass::forward) side = of.cut_side_by_side({x.B.d, x.x.d, shares_of(x)});
  if (side.each > 0) {
    factors = workspace.add(table * side_factors::count);
    if (side.each_sum > 0) {
      auto const all = static_cast<std::size_t>(of.rows().blocks(side.each_sum * of.chunk())) * h;
      kept = workspace.add(all * sizeof(float));
      sums = workspace.add(all * static_cast<std::size_t>(of.sizes_of(x.B.d).state_size(x.x.d)) *
                           sizeof(float));
    }
  } else {
    of.lay_out_decays(workspace);
    weights = workspace.add(table);
    if (pass == mamba2_pass::backward) slopes = workspace.add(table);
  }
  if (x.D.given) skip = workspace.add(h * static_cast<std::size_t>(x.x.d) * sizeof(float));
}

}  // namespace tk
