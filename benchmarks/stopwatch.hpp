// SPDX-License-Identifier: MIT
// Times implementations that take turns, each call behind an overwritten L2 cache.
#pragma once
#include <vector>

#include "benchmarks/benchmark.hpp"

namespace tk::bench {

struct timing {
  double ms, ms_min, ms_iqr;  // median, least, distance of the quartiles
};

class stopwatch {
 public:
  stopwatch();
  // One timing for each implementation: `repeats` calls, fewer (but at least 3) if they take longer
  // than `seconds` together. Their order alternates, so that drift falls on all alike.
  std::vector<timing> time(std::vector<implementation> const& list, int repeats,
                           double seconds) const;

 private:
  double time_once(std::function<void()> const& call) const;  // ms
  tensor flushed_;  // larger than any L2; nothing on the CPU, whose caches are left alone
};

// A copy inside device memory; the memory must outlive it.
std::function<void()> device_copy(void* to, void const* from, std::size_t bytes);

}  // namespace tk::bench
