// SPDX-License-Identifier: MIT
// The devices that a library for sm_90a runs on.
#pragma once
#include "backends/sm_80/capability.hpp"
#include "core/status.hpp"

namespace tk::be::rt {

// Refuses a device other than compute capability 9.0: sm_90a's code runs on no other.
inline void require_chip(int capability) {
  if (capability != 90)
    throw error(
        status::wrong_chip,
        "the library was built for compute capability 9.0; the device has " + spoken(capability));
}

}  // namespace tk::be::rt
