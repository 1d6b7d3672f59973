// SPDX-License-Identifier: MIT
// The runtime of an emulated sm_80, sm_86 or sm_89: memory and events of
// backends/emulator/runtime.hpp, and launches that run at once and throw what the emulator reports.
#pragma once
#include <type_traits>

#include "backends/emulator/runtime.hpp"
#include "backends/select.hpp"

#include TK_CHIP(arch.hpp)

namespace tk::be::rt {

inline device_info device() { return emulated_device("sm_" + std::to_string(compute_capability)); }

struct launch_shape {
  int blocks, threads;
  std::size_t smem_bytes;
  void* stream;
};
template <class Args>
void launch(void (*kernel)(Args), launch_shape const& how, std::type_identity_t<Args> const& args) {
  if (how.smem_bytes > smem_bytes)
    throw error(status::runtime_error,
                "shared memory of a kernel: " + std::to_string(how.smem_bytes) +
                    " bytes, at most " + std::to_string(smem_bytes));
  enqueue(how.stream, [=] {
    emulator::launch(how.blocks, how.threads, warp_lanes, 1, how.smem_bytes, [&] { kernel(args); });
  });
}

}  // namespace tk::be::rt
