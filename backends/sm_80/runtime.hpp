// SPDX-License-Identifier: MIT
// The runtime of sm_80, sm_86 and sm_89: that of all NVIDIA chips, and launches. The emulator
// replaces this file as a whole.
#pragma once
#include <type_traits>

#include "backends/sm_80/chip.hpp"
#include "backends/sm_80/device.hpp"

namespace tk::be::rt {

inline void require_chip() {
  require_chip(capability(), attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

// ---- launch
struct launch_shape {
  int blocks, threads;
  std::size_t smem_bytes;
  void* stream;
};
template <class Args>
void launch(void (*kernel)(Args), launch_shape const& how, std::type_identity_t<Args> const& args) {
  constexpr std::size_t without_asking = 48 * 1024;
  if (how.smem_bytes > without_asking)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(how.smem_bytes)),
          "shared memory of a kernel");
  void* arguments[] = {const_cast<Args*>(&args)};
  check(cudaLaunchKernel(reinterpret_cast<void const*>(kernel),
                         dim3(static_cast<unsigned>(how.blocks)),
                         dim3(static_cast<unsigned>(how.threads)), arguments, how.smem_bytes,
                         static_cast<cudaStream_t>(how.stream)),
        "launch");
}

}  // namespace tk::be::rt
