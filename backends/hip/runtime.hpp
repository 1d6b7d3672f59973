// SPDX-License-Identifier: MIT
// The HIP runtime as TK uses it: memory, events, device query, launches. Throws tk::error with the
// runtime's own words. The emulator replaces this file as a whole.
#pragma once
#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <type_traits>

#include "backends/hip/arch.hpp"
#include "backends/hip/chip.hpp"
#include "core/status.hpp"

namespace tk::be::rt {

inline constexpr int dl_device_type = 10;  // kDLROCM

// What has failed is told here, and taken from the runtime: others who ask it next would take the
// error for theirs.
inline void check(hipError_t e, char const* what, status kind = status::runtime_error) {
  if (e == hipSuccess) return;
  static_cast<void>(hipGetLastError());
  throw error(kind, std::string(what) + ": " + hipGetErrorString(e));
}

// ---- memory, for tests and benchmarks
inline void* allocate(std::size_t bytes) {
  void* p = nullptr;
  check(hipMalloc(&p, bytes ? bytes : 1), "hipMalloc");
  return p;
}
inline void release(void* p) { static_cast<void>(hipFree(p)); }
inline void copy_in(void* device, void const* host, std::size_t bytes) {
  check(hipMemcpy(device, host, bytes, hipMemcpyHostToDevice), "copy to the device");
}
inline void copy_out(void* host, void const* device, std::size_t bytes) {
  check(hipMemcpy(host, device, bytes, hipMemcpyDeviceToHost), "copy from the device");
}
inline void fill(void* device, int byte, std::size_t bytes) {
  check(hipMemset(device, byte, bytes), "hipMemset");
  check(hipDeviceSynchronize(), "hipMemset");
}
inline void fill_async(void* device, int byte, std::size_t bytes, void* stream) {
  check(hipMemsetAsync(device, byte, bytes, static_cast<hipStream_t>(stream)), "hipMemset");
}
inline void synchronize() { check(hipDeviceSynchronize(), "synchronize"); }

// ---- streams
// For tests: a stream that waits for no other, and whose work waits for let_go(). Until then
// nothing may wait for the whole device.
class held_stream {
 public:
  static constexpr bool holds = true;
  held_stream() {
    check(hipStreamCreateWithFlags(&s_, hipStreamNonBlocking), "hipStreamCreateWithFlags");
    check(hipStreamAddCallback(s_, await, &is_open_, 0), "hipStreamAddCallback");
  }
  ~held_stream() {
    open();
    static_cast<void>(hipStreamSynchronize(s_));
    static_cast<void>(hipStreamDestroy(s_));
  }
  held_stream(held_stream const&) = delete;
  held_stream& operator=(held_stream const&) = delete;
  void* handle() { return s_; }
  // Returns when the work is done.
  void let_go() {
    open();
    check(hipStreamSynchronize(s_), "hipStreamSynchronize");
  }

 private:
  static void await(hipStream_t, hipError_t, void* is_open) {
    static_cast<std::atomic<bool>*>(is_open)->wait(false);
  }
  void open() {
    is_open_ = true;
    is_open_.notify_all();
  }
  hipStream_t s_ = nullptr;
  std::atomic<bool> is_open_{false};
};

// ---- events
class event {
 public:
  event() { check(hipEventCreate(&e_), "hipEventCreate"); }
  ~event() { static_cast<void>(hipEventDestroy(e_)); }
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  void record(void* stream) {
    check(hipEventRecord(e_, static_cast<hipStream_t>(stream)), "hipEventRecord");
  }
  friend float milliseconds(event const& from, event const& to) {
    float ms = 0;
    check(hipEventSynchronize(to.e_), "hipEventSynchronize");
    check(hipEventElapsedTime(&ms, from.e_, to.e_), "hipEventElapsedTime");
    return ms;
  }

 private:
  hipEvent_t e_ = nullptr;
};

// ---- device
struct device_info {
  std::string name;
  int multiprocessors;
  std::size_t memory_bytes, l2_bytes;
};
inline int current_device() {
  int id = 0;
  check(hipGetDevice(&id), "no usable HIP device", status::wrong_chip);
  return id;
}
inline hipDeviceProp_t properties() {
  hipDeviceProp_t p;
  check(hipGetDeviceProperties(&p, current_device()), "hipGetDeviceProperties");
  return p;
}
inline device_info device() {
  auto const p = properties();
  return {p.name, p.multiProcessorCount, p.totalGlobalMem, static_cast<std::size_t>(p.l2CacheSize)};
}
inline void require_chip() { require_chip(properties().gcnArchName); }
inline int multiprocessors() {
  int x = 0;
  check(hipDeviceGetAttribute(&x, hipDeviceAttributeMultiprocessorCount, current_device()),
        "hipDeviceGetAttribute");
  return x;
}

// ---- launch
struct launch_shape {
  int blocks, threads;
  std::size_t smem_bytes;  // known to the kernel; the emulator asks
  void* stream;
};
template <class... Args>
void launch(void (*kernel)(Args...), launch_shape const& how,
            std::type_identity_t<Args> const&... args) {
  void* arguments[] = {const_cast<std::remove_const_t<Args>*>(&args)...};
  check(hipLaunchKernel(reinterpret_cast<void const*>(kernel),
                        dim3(static_cast<unsigned>(how.blocks)),
                        dim3(static_cast<unsigned>(how.threads)), arguments, 0,
                        static_cast<hipStream_t>(how.stream)),
        "launch");
}

}  // namespace tk::be::rt
