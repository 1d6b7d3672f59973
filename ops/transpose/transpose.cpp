// SPDX-License-Identifier: MIT
// Chooses the compiled instance of transpose that a problem asks for.
#include <limits>
#include <string>

#include "core/element.hpp"
#include "core/status.hpp"
#include "ops/transpose/problem.hpp"

namespace tk {

template <class T> struct transpose_run {
  static void launch(transpose_problem const& x, void* stream);
};

namespace {

// Tasks are counted in 31 bits, of tiles no smaller than these on any chip.
void check_tiles(row_tensor_view const& x) {
  constexpr std::int64_t side = 32, most = std::numeric_limits<int>::max() - (1 << 16);
  std::int64_t tiles = 1;
  for (auto const count :
       {x.outer, x.middle, (x.rows + side - 1) / side, (x.width + side - 1) / side}) {
    tiles *= count;  // below 2^62
    if (tiles > most)
      throw error(status::unsupported, "a number of tiles of 32 x 32 of " + std::to_string(tiles) +
                                           " or more is above the limit of " +
                                           std::to_string(most));
  }
}

}  // namespace

std::size_t workspace_bytes(transpose_problem const& x) {
  check_tiles(x.x);
  return 0;
}

void launch(transpose_problem const& x, void*, void* stream) {
  switch (x.x.type) {
    case element::fp8_e4m3:
    case element::fp8_e5m2: return transpose_run<fp8_e4m3>::launch(x, stream);
    case element::bf16:
    case element::fp16: return transpose_run<bf16>::launch(x, stream);
    default: return transpose_run<float>::launch(x, stream);
  }
}

}  // namespace tk
