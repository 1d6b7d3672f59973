// SPDX-License-Identifier: MIT
// The runtime of an emulated chip of this backend: memory and events of
// backends/emulator/runtime.hpp, and launches that run at once and throw what the emulator reports.
#pragma once
#include <type_traits>

#include "backends/emulator/runtime.hpp"
#include "backends/hip/arch.hpp"

namespace tk::be::rt {

inline device_info device() { return emulated_device(chip_name); }

struct launch_shape {
  int blocks, threads;
  std::size_t smem_bytes;
  void* stream;
};
// Static LDS is as aligned as its tiles ask for.
template <class... Args>
void launch(void (*kernel)(Args...), launch_shape const& how,
            std::type_identity_t<Args> const&... args) {
  emulator::shape form;
  form.blocks = how.blocks, form.threads = how.threads, form.warp_lanes = 64;
  form.smem_bytes = how.smem_bytes, form.smem_offset = 1024;
  enqueue(how.stream,
          [=] { emulator::launch(form, emulator::settings{}, [&] { kernel(args...); }); });
}

}  // namespace tk::be::rt
