// SPDX-License-Identifier: MIT
// What conv1d and its backward ask of sizes.
#pragma once
#include "ops/conv1d/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

// Tokens, sequences, weights and tasks are counted in 31 bits.
inline void check_conv1d_size(conv1d_operands const& x) {
  check_row_size(x.x);
  constexpr std::int64_t most = std::numeric_limits<int>::max() - (1 << 16);
  auto const check = [](char const* what, std::int64_t size) {
    if (size > most)
      throw error(status::unsupported, std::string(what) + std::to_string(size) +
                                           " is above the limit of " + std::to_string(most));
  };
  check("c w = ", x.channels() * x.taps);
  if (x.is_packed) check("n + sequences = ", x.x.rows + x.sequences);
  check("a number of pieces of 128 tokens and 256 channels of ",
        x.runs(conv1d_plan::longest) *
            ((x.channels() + conv1d_plan::columns - 1) / conv1d_plan::columns));
}

}  // namespace tk
