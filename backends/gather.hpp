// SPDX-License-Identifier: MIT
// What the lanes of a worker hold, brought together on the CPU, for core/print.hpp. On the host a
// worker is one lane and has everything. On an emulated chip the last lane to come gets it. On a
// card there is no such thing (be::can_gather).
#pragma once
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.hpp"

#if defined(TK_EMULATE)
#include "backends/emulator/collective.hpp"
#include "backends/emulator/gather.hpp"
#endif

namespace tk::be {

// gather(title, mine, all, where): every lane of a worker brings values by their index in `all`. It
// is true in one of them, once all have come, and `all` is then complete.
// gathering_place(): what is known of the caller, for a heading.
#if defined(TK_EMULATE)
inline bool gather(std::string const& title, std::vector<std::pair<int, float>> const& mine,
                   std::vector<float>& all, std::source_location where) {
  return emulator::gather(worker_lanes, title, mine, all, where);
}
inline std::string gathering_place() {
  int const first = emulator::thread_index() / worker_lanes * worker_lanes;
  return ", block " + std::to_string(emulator::block_index()) + ", threads " +
         std::to_string(first) + " to " + std::to_string(first + worker_lanes - 1);
}
#else
inline bool gather(std::string const&, std::vector<std::pair<int, float>> const& mine,
                   std::vector<float>& all, std::source_location) {
  for (auto const& [index, value] : mine) all[static_cast<std::size_t>(index)] = value;
  return true;
}
inline std::string gathering_place() { return ""; }
#endif

}  // namespace tk::be
