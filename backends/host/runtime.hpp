// SPDX-License-Identifier: MIT
// The CPU in the words of a device runtime: its memory is the program's own, a launch is over when
// it returns, and an event is a point in time.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "backends/host/cpu.hpp"
#include "core/status.hpp"

namespace tk::be::rt {

inline constexpr int dl_device_type = 1;  // kDLCPU

// ---- memory, for tests and benchmarks
inline constexpr std::align_val_t alignment{256};
inline void* allocate(std::size_t bytes) {
  void* const p = ::operator new(bytes ? bytes : 1, alignment, std::nothrow);
  if (!p) throw error(status::runtime_error, "no memory for " + std::to_string(bytes) + " bytes");
  return p;
}
inline void release(void* p) { ::operator delete(p, alignment); }
inline void copy_in(void* device, void const* host, std::size_t bytes) {
  if (bytes) std::memcpy(device, host, bytes);
}
inline void copy_out(void* host, void const* device, std::size_t bytes) {
  if (bytes) std::memcpy(host, device, bytes);
}
inline void fill(void* device, int byte, std::size_t bytes) {
  if (bytes) std::memset(device, byte, bytes);
}
inline void fill_async(void* device, int byte, std::size_t bytes, void*) {
  fill(device, byte, bytes);
}
inline void synchronize() {}

// ---- streams
// For tests; here a call is over when it returns, whatever the stream.
class held_stream {
 public:
  static constexpr bool holds = false;
  void* handle() { return this; }
  void let_go() {}
};

// ---- events
class event {
 public:
  void record(void*) { at_ = std::chrono::steady_clock::now(); }
  friend float milliseconds(event const& from, event const& to) {
    return std::chrono::duration<float, std::milli>(to.at_ - from.at_).count();
  }

 private:
  std::chrono::steady_clock::time_point at_{};
};

// ---- device
struct device_info {
  std::string name;
  int multiprocessors;
  std::size_t memory_bytes, l2_bytes;
};
inline void require_chip() { require_cpu(cpu_needs, cpu_features()); }
inline int current_device() {
  require_chip();  // each check of a problem asks for the device
  return 0;
}
inline int multiprocessors() {  // asked once: the answer is in a file
  static int const n = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return n;
}
inline std::size_t system_value(int name) {
  long const n = sysconf(name);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}
// The CPU's model name, or "CPU" where the system does not tell.
inline std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (auto const colon = line.find(": "); line.starts_with("model name") && colon != line.npos)
      return line.substr(colon + 2);
  return "CPU";
}
inline device_info device() {
  std::size_t l2 = 0;
#if defined(_SC_LEVEL2_CACHE_SIZE)
  l2 = system_value(_SC_LEVEL2_CACHE_SIZE) * static_cast<std::size_t>(multiprocessors());
#endif
  return {cpu_name(), multiprocessors(), system_value(_SC_PHYS_PAGES) * system_value(_SC_PAGESIZE),
          l2};
}

}  // namespace tk::be::rt
