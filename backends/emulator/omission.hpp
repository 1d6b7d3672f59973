// SPDX-License-Identifier: MIT
// Leaves out what one line of a backend orders, to see whether a test notices (tests/mutation). The
// barriers, waits, fences and commits of every intrinsics.hpp ask first. From the environment:
//   TK_EMULATE_OMIT=sm_90/sync.hpp:60   in that line of that file they do nothing, and a poll finds
//                                       what it waits for
//   TK_EMULATE_SITES=<file>             every line that asks is added to the file, once
#pragma once
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string>

#include "backends/emulator/report.hpp"

namespace tk::emulator {

class omission {
 public:
  omission() {
    if (char const* const site = std::getenv("TK_EMULATE_OMIT")) omit_ = "/" + std::string(site);
    if (char const* const path = std::getenv("TK_EMULATE_SITES")) sites_.open(path, std::ios::app);
    asked_ = !omit_.empty() || sites_.is_open();
  }
  bool holds(location const& where) {
    if (!asked_) return false;
    if (sites_.is_open()) note(where);
    return !omit_.empty() && text(where).ends_with(omit_);
  }

 private:
  void note(location const& where) {
    sanitizer::quiet const q;
    std::lock_guard const lock(guard_);
    if (std::string const site = text(where); seen_.insert(site).second)
      sites_ << site << std::endl;
  }
  bool asked_;
  std::string omit_;
  std::ofstream sites_;
  std::set<std::string> seen_;
  std::mutex guard_;
};
inline omission omissions;

inline bool omitted(location const& where) { return omissions.holds(where); }

}  // namespace tk::emulator
