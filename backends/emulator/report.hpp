// SPDX-License-Identifier: MIT
// Errors and what they say: the sentence, the source line, block and thread; for a deadlock, what
// every warp waits for and where.
#pragma once
#include <sstream>

#include "backends/emulator/machine.hpp"

namespace tk::emulator {

inline std::string text(location const& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}
inline std::string hex(std::uint64_t x) {
  std::ostringstream out;
  out << "0x" << std::hex << x;
  return out.str();
}

// Stops the launch: the lane that runs is unwound, the others are left where they are. `culprit` is
// the lane to name, which need not be the one that runs.
[[noreturn]] inline void fail_for(lane const& culprit, std::string const& sentence,
                                  location const& where) {
  throw error(status::runtime_error, "emulated device: " + sentence + "\n  at " + text(where) +
                                         ", block " + std::to_string(own_block(culprit).index) +
                                         ", thread " + std::to_string(culprit.thread));
}
[[noreturn]] inline void fail(std::string const& sentence, location where = location::current()) {
  fail_for(self(), sentence, where);
}
// Of a whole block, when none of its lanes is to blame.
[[noreturn]] inline void fail_block(block const& b, std::string const& sentence) {
  throw error(status::runtime_error,
              "emulated device: " + sentence + "\n  in block " + std::to_string(b.index));
}

inline bool same_place(waiting const& a, waiting const& b) {
  return a.where.line() == b.where.line() && a.subject == b.subject &&
         std::string(a.what) == b.what && std::string(a.where.file_name()) == b.where.file_name();
}
inline void describe(std::ostream& out, warp const& w) {
  for (int i = 0; i < w.size;) {
    lane const& l = w.lanes[i];
    int end = i + 1;
    while (end < w.size && w.lanes[end].ended == l.ended &&
           (l.ended || same_place(w.lanes[end].wait, l.wait)))
      ++end;
    out << "\n  block " << w.of->index << " warp " << &w - w.of->warps << " lanes " << i << "-"
        << end - 1 << ": ";
    if (l.ended) {
      out << "ended";
    } else {
      out << l.wait.what << " at " << text(l.wait.where);
      if (l.wait.state) out << " (" << l.wait.state(l, l.wait.subject) << ")";
    }
    i = end;
  }
}
inline std::string deadlock_report(team const& t) {
  std::ostringstream out;
  out << "emulated device: deadlock, no lane can go on";
  for (warp const& w : t.warps) describe(out, w);
  return out.str();
}

}  // namespace tk::emulator
