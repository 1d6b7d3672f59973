// SPDX-License-Identifier: MIT
// The backward of a sequence in several calls, the gradient of the state handed from the last back
// to the first. Each call's results become those of the whole, which has been launched.
#pragma once
#include "tests/ops/linear_attention/part.hpp"

namespace tk::test {

// `forward` has the same inputs, and gives the states between the parts. What a head's one decay
// gets is the sum over all calls.
inline void run_in_parts(backward_operands& whole, forward_operands& forward,
                         std::vector<std::int64_t> const& lengths) {
  auto const& c = whole.of;
  std::vector<double> ddecay(static_cast<std::size_t>(c.h));
  for (std::int64_t s = 0; s < sequences(c); ++s) {
    auto const parts = parts_of(c, s, lengths);
    auto const states = run_parts(forward, parts, false);
    std::unique_ptr<backward_operands> later;
    for (auto i = parts.size(); i-- > 0;) {
      auto part = take(whole, parts[i]);
      if (i > 0) hand_on(part->initial, states[i - 1]->final);
      if (later) hand_on(part->dfinal, later->dinitial);
      REQUIRE(launch_twice(*part) == "");
      for (auto const& x : results_of(*part, whole))
        if (x.all->in) copy_results(part_of(x, c, parts[i]), *x.few);
      for (std::int64_t head = 0; head < c.h && part->ddecay.in; ++head)
        ddecay[static_cast<std::size_t>(head)] +=
            decode(dtype::fp32, part->ddecay.result_row(0) + head * 4);
      later = std::move(part);
    }
  }
  for (std::int64_t head = 0; head < c.h && whole.ddecay.in; ++head)
    encode(dtype::fp32, rounded(dtype::fp32, ddecay[static_cast<std::size_t>(head)]),
           whole.ddecay.result_row(0) + head * 4);
}

}  // namespace tk::test
