// SPDX-License-Identifier: MIT
// The runtime of sm_90: that of all NVIDIA chips, TMA maps, launches of clusters. Throws tk::error
// with the CUDA runtime's own words. The emulator replaces this file as a whole.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <type_traits>

#include "backends/sm_80/device.hpp"
#include "backends/sm_90/chip.hpp"

namespace tk::be::rt {

inline void require_chip() { require_chip(capability()); }

// ---- TMA maps
using tensor_map = CUtensorMap;

// Four dimensions. sizes and box innermost first; strides in bytes of the dimensions 1 and up.
struct tensor_map_spec {
  void* base;
  int element_bytes;  // 1, 2 (16-bit floats; `is_bf16` says which) or 4 (fp32)
  bool is_bf16;
  std::uint64_t sizes[4], strides[3];
  std::uint32_t box[4];
  int swizzle_bytes;  // 32, 64 or 128
};

// False where TMA's alignment rules don't hold (CUDA driver API, cuTensorMapEncodeTiled).
inline bool encode(tensor_map& map, tensor_map_spec const& s) {
  static auto const encode_tiled = [] {
    void* f = nullptr;
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault,
                                           &found),
          "cuTensorMapEncodeTiled");
    if (found != cudaDriverEntryPointSuccess)
      throw error(status::runtime_error, "the driver has no cuTensorMapEncodeTiled");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(f);
  }();
  cuuint64_t sizes[4], strides[3];
  cuuint32_t box[4], every[4];
  for (int i = 0; i < 4; ++i) sizes[i] = s.sizes[i], box[i] = s.box[i], every[i] = 1;
  for (int i = 0; i < 3; ++i) strides[i] = s.strides[i];
  auto const type = s.element_bytes == 4   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                    : s.element_bytes == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                    : s.is_bf16            ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                           : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  auto const swizzle = s.swizzle_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                       : s.swizzle_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                               : CU_TENSOR_MAP_SWIZZLE_32B;
  return encode_tiled(&map, type, 4, s.base, sizes, strides, box, every,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

// ---- launch
// A kernel begins when those before it are done. Where its blocks began as the last ones of the
// kernel before left (programmatic dependent launch), two short kernels took 2 us less, but the
// backwards of scans, chains of long ones, 1 to 3.5 % more: blocks that begin early gather on the
// multiprocessors that are free first (H200, 2026-11-30).
struct launch_shape {
  int blocks, threads, cluster;
  std::size_t smem_bytes;
  void* stream;
};
// body(config) with what CUDA is told of it.
template <class Args, class Body>
void with_config(void (*kernel)(Args), launch_shape const& how, Body body) {
  constexpr std::size_t without_asking = 48 * 1024;
  if (how.smem_bytes > without_asking)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(how.smem_bytes)),
          "shared memory of a kernel");
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(how.cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = how.blocks;
  config.blockDim = how.threads;
  config.dynamicSmemBytes = how.smem_bytes;
  config.stream = static_cast<cudaStream_t>(how.stream);
  config.attrs = &cluster;
  config.numAttrs = 1;
  body(config);
}
template <class Args>
void launch(void (*kernel)(Args), launch_shape const& how, std::type_identity_t<Args> const& args) {
  void* arguments[] = {const_cast<Args*>(&args)};
  with_config(kernel, how, [&](cudaLaunchConfig_t const& config) {
    check(cudaLaunchKernelExC(&config, reinterpret_cast<void const*>(kernel), arguments), "launch");
  });
}
// How many clusters of such a launch run at a time.
template <class Args> int clusters_at_a_time(void (*kernel)(Args), launch_shape const& how) {
  int count = 0;
  with_config(kernel, how, [&](cudaLaunchConfig_t const& config) {
    check(cudaOccupancyMaxActiveClusters(&count, reinterpret_cast<void const*>(kernel), &config),
          "clusters that run at a time");
  });
  return count;
}

}  // namespace tk::be::rt
