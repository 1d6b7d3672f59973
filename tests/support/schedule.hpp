// SPDX-License-Identifier: MIT
// In which order an emulated chip goes on with lanes, warps, blocks and its own copies.
#pragma once
#include <cstdlib>
#include <string>

namespace tk::test {

constexpr int schedules = 30;

// Schedule 0 is as the environment says, which also says what the others are. Emulated chips read
// it at each launch.
inline void reschedule(int i) {
  static long const first = [] {
    char const* const given = std::getenv("TK_EMULATE_SEED");
    return given ? schedules * std::atol(given) : 0;
  }();
  if (i == 0) return;
  setenv("TK_EMULATE_SEED", std::to_string(first + i).c_str(), 1);
  setenv("TK_EMULATE_THREADS", std::to_string(1 + i % 4).c_str(), 1);
}

}  // namespace tk::test
