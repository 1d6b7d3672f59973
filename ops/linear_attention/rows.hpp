// SPDX-License-Identifier: MIT
// The sequences of a call, and whether they are cut, for plans on the host.
#pragma once
#include <algorithm>
#include <limits>
#include <string>

#include "backends/runtime.hpp"
#include "core/status.hpp"
#include "ops/linear_attention/plan.hpp"

namespace tk {

// Tasks are counted, and tokens addressed, in 31 bits.
inline scan_rows rows_of(heads const& x, sequence_starts const& starts) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024, most_blocks = 1 << 27;
  auto const limit = [](char const* what, std::int64_t n, std::int64_t least_too_many) {
    if (n > least_too_many)
      throw error(status::unsupported, std::string(what) + " is " + std::to_string(n) +
                                           "; it must be at most " +
                                           std::to_string(least_too_many));
  };
  limit(starts.given ? "the total of tokens" : "n", x.n, most);
  limit("b", starts.b, most);
  limit("h", x.h, most);
  std::int64_t const blocks =
      starts.given ? x.n / 16 + starts.b : starts.b * std::max<std::int64_t>(1, x.n / 16 + 1);
  limit("the number of blocks of 16 tokens", blocks, most_blocks);
  limit("the number of blocks of 16 tokens of all heads", blocks * std::max<std::int64_t>(1, x.h),
        most_blocks);
  int const n = static_cast<int>(x.n), b = static_cast<int>(starts.b);
  return {{starts.data, starts.given ? b : 0, n, n}, n, b, static_cast<int>(x.h), starts.given};
}

// Sequences are cut into segments of so many tokens where that keeps more multiprocessors busy: k
// and v are then read twice, and states are written and read: `cost` quarters of the work without.
// The bits are the same.
inline bool cutting_pays(scan_rows const& rows, int length, std::int64_t tasks_of_each,
                         std::int64_t cost = 7) {
  constexpr std::int64_t of = 4;
  std::int64_t const units = be::rt::multiprocessors(), longest = rows.n,
                     segments = rows.blocks(length);
  if (longest <= length) return false;
  auto const rounds = [&](std::int64_t tasks) { return (tasks + units - 1) / units; };
  return rounds(rows.b * tasks_of_each) * longest * of >
         rounds(segments * tasks_of_each) * length * cost;
}

}  // namespace tk
