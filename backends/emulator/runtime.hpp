// SPDX-License-Identifier: MIT
// What the runtimes of all emulated chips share: device memory is host memory (filled with 0xff,
// NaN), work is done when it is enqueued, but for that of a held_stream, time is the CPU's.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/emulator/emulator.hpp"
#include "core/status.hpp"

namespace tk::be::rt {

inline constexpr int dl_device_type = 1;  // kDLCPU

// ---- streams
// For tests: a stream whose work waits for let_go(). It is one thread's, with what is enqueued on
// it. Any other handle is that of a stream whose work is done at once.
class held_stream {
 public:
  static constexpr bool holds = true;
  held_stream() {
    std::lock_guard const lock(guard_);
    all_.push_back(this);
  }
  ~held_stream() {
    std::lock_guard const lock(guard_);
    std::erase(all_, this);
  }
  held_stream(held_stream const&) = delete;
  held_stream& operator=(held_stream const&) = delete;
  void* handle() { return this; }
  void let_go() {
    is_open_ = true;
    for (auto const& work : std::exchange(work_, {})) work();
  }
  // Null unless the handle is that of a stream which still waits.
  static held_stream* of(void* handle) {
    std::lock_guard const lock(guard_);
    auto const it = std::find(all_.begin(), all_.end(), handle);
    return it == all_.end() || (*it)->is_open_ ? nullptr : *it;
  }
  void put(std::function<void()> work) { work_.push_back(std::move(work)); }

 private:
  static inline std::mutex guard_;
  static inline std::vector<held_stream*> all_;
  std::vector<std::function<void()>> work_;
  bool is_open_ = false;
};
template <class F> void enqueue(void* stream, F work) {
  if (auto* const held = held_stream::of(stream)) held->put(std::move(work));
  else work();
}

// ---- memory; as aligned as that of a device
inline void* allocate(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  std::size_t const whole =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const p = std::aligned_alloc(alignment, whole);
  if (!p) throw error(status::runtime_error, "out of memory: " + std::to_string(bytes) + " bytes");
  std::memset(p, 0xff, whole);
  return p;
}
inline void release(void* p) { std::free(p); }
inline void copy_in(void* device, void const* host, std::size_t bytes) {
  if (bytes) std::memcpy(device, host, bytes);
}
inline void copy_out(void* host, void const* device, std::size_t bytes) {
  if (bytes) std::memcpy(host, device, bytes);
}
inline void fill(void* device, int byte, std::size_t bytes) {
  if (bytes) std::memset(device, byte, bytes);
}
inline void fill_async(void* device, int byte, std::size_t bytes, void* stream) {
  enqueue(stream, [=] { fill(device, byte, bytes); });
}
inline void synchronize() {}

// ---- events
class event {
 public:
  event() = default;
  event(event const&) = delete;
  event& operator=(event const&) = delete;
  void record(void* stream) {
    enqueue(stream, [this] { time_ = std::chrono::steady_clock::now(); });
  }
  friend float milliseconds(event const& from, event const& to) {
    return std::chrono::duration<float, std::milli>(to.time_ - from.time_).count();
  }

 private:
  std::chrono::steady_clock::time_point time_;
};

// ---- device
struct device_info {
  std::string name;
  int multiprocessors;
  std::size_t memory_bytes, l2_bytes;
};
inline std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "a CPU";
}
inline int current_device() { return 0; }
inline void require_chip() {}
inline int multiprocessors() { return emulator::multiprocessors(); }
inline device_info emulated_device(std::string const& chip) {
  return {"emulated " + chip + " on " + cpu_model(), multiprocessors(), std::size_t{8} << 30,
          std::size_t{1} << 20};
}

}  // namespace tk::be::rt
