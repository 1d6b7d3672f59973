// SPDX-License-Identifier: MIT
// parallel_for(n, f): f(0) ... f(n - 1), each once, in any order, on all processors. f must not
// throw.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tk::test {

inline int processors() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

template <class F> void parallel_for(std::int64_t n, F const& f) {
  std::atomic<std::int64_t> next{0};
  auto const work = [&] {
    for (std::int64_t i; (i = next.fetch_add(1)) < n;) f(i);
  };
  std::vector<std::thread> others;
  for (std::int64_t t = 1; t < std::min<std::int64_t>(processors(), n); ++t)
    others.emplace_back(work);
  work();
  for (auto& t : others) t.join();
}

}  // namespace tk::test
