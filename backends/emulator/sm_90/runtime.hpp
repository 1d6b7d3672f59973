// SPDX-License-Identifier: MIT
// The runtime of an emulated sm_90a: memory and events of backends/emulator/runtime.hpp, TMA maps,
// and launches that run at once and throw what the emulator reports.
#pragma once
#include <type_traits>

#include "backends/emulator/runtime.hpp"
#include "backends/emulator/tma.hpp"

namespace tk::be::rt {

inline device_info device() { return emulated_device("sm_90a"); }

// ---- TMA maps
using tensor_map = emulator::tensor_map;

// sizes and box innermost first; strides in bytes of the dimensions 1 and up.
struct tensor_map_spec {
  void* base;
  int element_bytes;  // 1, 2 (16-bit floats; `is_bf16` says which) or 4 (fp32)
  bool is_bf16;
  std::uint64_t sizes[4], strides[3];
  std::uint32_t box[4];
  int swizzle_bytes;  // 32, 64 or 128
};

// False where TMA's alignment rules don't hold.
inline bool encode(tensor_map& map, tensor_map_spec const& s) {
  using emulator::element_kind;
  tensor_map m;
  m.kind = s.element_bytes == 4   ? element_kind::fp32
           : s.element_bytes == 1 ? element_kind::byte
           : s.is_bf16            ? element_kind::bf16
                                  : element_kind::fp16;
  m.rank = 4;
  m.swizzle_bytes = static_cast<std::uint8_t>(s.swizzle_bytes);
  m.base = static_cast<char*>(s.base);
  for (int i = 0; i < 4; ++i) {
    if (s.box[i] > 256) return false;
    m.sizes[i] = s.sizes[i], m.box[i] = static_cast<std::uint16_t>(s.box[i]);
  }
  for (int i = 0; i < 3; ++i) m.strides[i] = s.strides[i];
  if (!emulator::is_legal(m)) return false;
  m.magic = tensor_map::is_map;
  map = m;
  return true;
}

// ---- launch
struct launch_shape {
  int blocks, threads, cluster;
  std::size_t smem_bytes;
  void* stream;
};
template <class Args> void launch(void (*kernel)(Args), launch_shape const& how, Args const& args) {
  constexpr std::size_t most = 227 * 1024;
  if (how.smem_bytes > most)
    throw error(status::runtime_error,
                "shared memory of a kernel: " + std::to_string(how.smem_bytes) +
                    " bytes, at most " + std::to_string(most));
  if (how.cluster > 8)
    throw error(status::runtime_error,
                "launch: a cluster of " + std::to_string(how.cluster) + " blocks, at most 8");
  enqueue(how.stream, [=] {
    emulator::launch(how.blocks, how.threads, 32, how.cluster, how.smem_bytes,
                     [&] { kernel(args); });
  });
}
template <class Args> int clusters_at_a_time(void (*)(Args), launch_shape const& how) {
  return std::max(1, multiprocessors() / how.cluster);
}

}  // namespace tk::be::rt
