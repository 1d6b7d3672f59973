// SPDX-License-Identifier: MIT
// What happens before what. A barrier is an edge: lanes publish at it what they have done and know,
// and lanes that it lets go observe that. ThreadSanitizer follows ordinary accesses so. The
// emulator itself follows proxy fences, in any build: a lane knows of each warp of its team the
// last fence that happened before what the lane does now.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/emulator/sanitizers.hpp"

namespace tk::emulator {

// By warp of the team, the number of a proxy fence; fences of a team are numbered from 1 on, and 0
// is none. Warps past the end have none.
class known_fences {
 public:
  void clear() { last_.clear(); }
  std::uint32_t of(int warp) const {
    auto const w = static_cast<std::size_t>(warp);
    return w < last_.size() ? last_[w] : 0;
  }
  void set(int warp, std::uint32_t number) {
    auto const w = static_cast<std::size_t>(warp);
    if (w >= last_.size()) last_.resize(w + 1);
    last_[w] = number;
  }
  // What either knows.
  void join(known_fences const& other) {
    if (other.last_.size() > last_.size()) last_.resize(other.last_.size());
    for (std::size_t i = 0; i < other.last_.size(); ++i)
      last_[i] = std::max(last_[i], other.last_[i]);
  }
  // What both know.
  void meet(known_fences const& other) {
    if (other.last_.size() < last_.size()) last_.resize(other.last_.size());
    for (std::size_t i = 0; i < last_.size(); ++i) last_[i] = std::min(last_[i], other.last_[i]);
  }

 private:
  std::vector<std::uint32_t> last_;
};

// `order` is what ThreadSanitizer knows the edge by.
struct edge {
  char order = 0;
  known_fences fences;
};

}  // namespace tk::emulator
