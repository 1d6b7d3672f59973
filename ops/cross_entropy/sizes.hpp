// SPDX-License-Identifier: MIT
// The sizes that cross_entropy and its backward take, and their workspace.
#pragma once
#include "ops/cross_entropy/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

// A problem with rows.
inline void check_cross_entropy_size(row_tensor_view const& x) {
  constexpr auto most = most_columns_of_cross_entropy;
  if (x.width == 0)
    throw error(status::unsupported, "x has vocab = 0 where it has rows; it must be 1 or more");
  if (x.width > most)
    throw error(status::unsupported, "x has vocab = " + std::to_string(x.width) +
                                         ", which is above the limit of " + std::to_string(most));
  check_row_size(x);
}
inline std::size_t cross_entropy_workspace_bytes(row_tensor_view const& x) {
  check_cross_entropy_size(x);
  return row_workspace_bytes(x);
}

}  // namespace tk
