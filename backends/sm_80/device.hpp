// SPDX-License-Identifier: MIT
// The CUDA runtime as every NVIDIA backend uses it: memory, events, device query. Throws tk::error
// with the runtime's own words.
#pragma once
#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "core/status.hpp"

namespace tk::be::rt {

inline constexpr int dl_device_type = 2;  // kDLCUDA

// What has failed is told here, and taken from the runtime: others who ask it next would take the
// error for theirs.
inline void check(cudaError_t e, char const* what, status kind = status::runtime_error) {
  if (e == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw error(kind, std::string(what) + ": " + cudaGetErrorString(e));
}

// ---- memory, for tests and benchmarks
inline void* allocate(std::size_t bytes) {
  void* p = nullptr;
  check(cudaMalloc(&p, bytes ? bytes : 1), "cudaMalloc");
  return p;
}
inline void release(void* p) { static_cast<void>(cudaFree(p)); }
inline void copy_in(void* device, void const* host, std::size_t bytes) {
  check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copy to the device");
}
inline void copy_out(void* host, void const* device, std::size_t bytes) {
  check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy from the device");
}
inline void fill(void* device, int byte, std::size_t bytes) {
  check(cudaMemset(device, byte, bytes), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaMemset");
}
inline void fill_async(void* device, int byte, std::size_t bytes, void* stream) {
  check(cudaMemsetAsync(device, byte, bytes, static_cast<cudaStream_t>(stream)), "cudaMemset");
}
inline void synchronize() { check(cudaDeviceSynchronize(), "synchronize"); }

// ---- streams
// For tests: a stream that waits for no other, and whose work waits for let_go(). Until then
// nothing may wait for the whole device.
class held_stream {
 public:
  static constexpr bool holds = true;
  held_stream() {
    check(cudaStreamCreateWithFlags(&s_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaLaunchHostFunc(s_, await, &is_open_), "cudaLaunchHostFunc");
  }
  ~held_stream() {
    open();
    static_cast<void>(cudaStreamSynchronize(s_));
    static_cast<void>(cudaStreamDestroy(s_));
  }
  held_stream(held_stream const&) = delete;
  held_stream& operator=(held_stream const&) = delete;
  void* handle() { return s_; }
  // Returns when the work is done.
  void let_go() {
    open();
    check(cudaStreamSynchronize(s_), "cudaStreamSynchronize");
  }

 private:
  static void CUDART_CB await(void* is_open) {
    static_cast<std::atomic<bool>*>(is_open)->wait(false);
  }
  void open() {
    is_open_ = true;
    is_open_.notify_all();
  }
  cudaStream_t s_ = nullptr;
  std::atomic<bool> is_open_{false};
};

// ---- events
class event {
 public:
  event() { check(cudaEventCreate(&e_), "cudaEventCreate"); }
  ~event() { static_cast<void>(cudaEventDestroy(e_)); }
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  void record(void* stream) {
    check(cudaEventRecord(e_, static_cast<cudaStream_t>(stream)), "cudaEventRecord");
  }
  friend float milliseconds(event const& from, event const& to) {
    float ms = 0;
    check(cudaEventSynchronize(to.e_), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&ms, from.e_, to.e_), "cudaEventElapsedTime");
    return ms;
  }

 private:
  cudaEvent_t e_ = nullptr;
};

// ---- device
struct device_info {
  std::string name;
  int multiprocessors;
  std::size_t memory_bytes, l2_bytes;
};
inline device_info device() {
  int id = 0;
  cudaDeviceProp p;
  check(cudaGetDevice(&id), "cudaGetDevice");
  check(cudaGetDeviceProperties(&p, id), "cudaGetDeviceProperties");
  return {p.name, p.multiProcessorCount, p.totalGlobalMem, static_cast<std::size_t>(p.l2CacheSize)};
}
inline int current_device() {
  int id = 0;
  check(cudaGetDevice(&id), "no usable CUDA device", status::wrong_chip);
  return id;
}
inline int attribute(cudaDeviceAttr what) {
  int x = 0;
  check(cudaDeviceGetAttribute(&x, what, current_device()), "cudaDeviceGetAttribute");
  return x;
}
// 80 for compute capability 8.0.
inline int capability() {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
         attribute(cudaDevAttrComputeCapabilityMinor);
}
inline int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }

}  // namespace tk::be::rt
