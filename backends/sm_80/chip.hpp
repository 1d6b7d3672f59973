// SPDX-License-Identifier: MIT
// The devices that a library for sm_80, sm_86 or sm_89 runs on.
#pragma once
#include "backends/select.hpp"
#include "backends/sm_80/capability.hpp"
#include "core/status.hpp"

#include TK_CHIP(arch.hpp)

namespace tk::be::rt {

// Takes the chip that the library was built for and any later one, which runs its PTX (CUDA C++
// Programming Guide, 3.1.4), but refuses one whose blocks have too little shared memory.
inline void require_chip(int capability, int smem) {
  if (capability < compute_capability || smem < smem_bytes)
    throw error(status::wrong_chip, "the library was built for compute capability " +
                                        spoken(compute_capability) + " or later with " +
                                        std::to_string(smem_bytes) +
                                        " bytes of shared memory in a block; the device has " +
                                        spoken(capability) + " and " + std::to_string(smem));
}

}  // namespace tk::be::rt
