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

// Tasks are counted, and tokens addressed, in 31 bits; a block has up to 16 tasks, of columns.
inline scan_rows rows_of(heads const& x, sequence_starts const& starts) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024, most_blocks = 1 << 26;
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

// Of how many segments of `length` tokens a task is: sequences are cut where that keeps more
// multiprocessors busy; else 0. Segments but those of a sequence's last task are then summed, too:
// k and v are read twice, and states are written and read, which costs `sum` quarters of a walk.
// The bits are the same where a walk adds a segment's sum to what the segment began with.
inline int segments_of_walk(scan_rows const& rows, int length, std::int64_t tasks_of_each,
                            std::int64_t sum = 3) {
  constexpr std::int64_t walk = 4, most_rounds = 4;
  std::int64_t const units = be::rt::multiprocessors(), longest = rows.n, T = tasks_of_each,
                     segments = (longest + length - 1) / length;
  if (longest <= length || T == 0 || rows.b == 0) return 0;
  auto const rounds = [&](std::int64_t tasks) { return (tasks + units - 1) / units; };
  std::int64_t best = rounds(rows.b * T) * longest * walk, found = 0;
  auto const consider = [&](std::int64_t each) {
    int const height = static_cast<int>(each * length);
    std::int64_t const sums = rows.blocks(length) - rows.b * each,
                       cost = rounds(rows.blocks(height) * T) *
                                  std::min<std::int64_t>(height, longest) * walk +
                              rounds(std::max<std::int64_t>(sums, 0) * T) * length * sum;
    if (cost < best) best = cost, found = each;
  };
  std::int64_t const sequences = rows.is_packed ? 1 : rows.b;
  for (std::int64_t i = 1; i <= most_rounds; ++i)
    if (std::int64_t const walks = i * units / (sequences * T); walks > 1)
      consider((segments + walks - 1) / walks);
  consider(1);
  return static_cast<int>(found);
}

}  // namespace tk
