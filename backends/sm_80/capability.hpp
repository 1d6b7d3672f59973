// SPDX-License-Identifier: MIT
// Compute capabilities as numbers: 80 is 8.0.
#pragma once
#include <string>

namespace tk::be::rt {

inline std::string spoken(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

}  // namespace tk::be::rt
