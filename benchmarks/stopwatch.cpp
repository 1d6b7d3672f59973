// SPDX-License-Identifier: MIT
// Device events around single calls (stopwatch.hpp). The flush is enqueued before the first event
// and takes long enough for the host to enqueue the call behind it: no launch is waited for.
#include "benchmarks/stopwatch.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

#include "backends/runtime.hpp"
#include "benchmarks/shared_library.hpp"

namespace tk::bench {
namespace {

constexpr bool on_cpu = be::rt::dl_device_type == kDLCPU;
constexpr std::int64_t flush_bytes = std::int64_t{256} << 20;

// Linear between neighbours, so that the median of an even count is the mean of the middle two.
double quantile(std::vector<double> const& sorted, double q) {
  double const at = q * static_cast<double>(sorted.size() - 1);
  std::size_t const low = static_cast<std::size_t>(at), high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

timing summary(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  return {quantile(ms, 0.5), ms.front(), quantile(ms, 0.75) - quantile(ms, 0.25)};
}

// A copy by all threads of the CPU, which stand ready: to make them takes as long as to copy much.
class cpu_copy {
 public:
  cpu_copy(void* to, void const* from, std::size_t bytes)
      : to_(static_cast<char*>(to)), from_(static_cast<char const*>(from)), bytes_(bytes) {
    for (std::ptrdiff_t i = 1; i < parts_; ++i)
      threads_.emplace_back([this, i](std::stop_token const& ends) {
        for (begin_.arrive_and_wait(); !ends.stop_requested(); begin_.arrive_and_wait()) {
          copy_part(i);
          end_.arrive_and_wait();
        }
      });
  }
  ~cpu_copy() {
    for (auto& t : threads_) t.request_stop();
    begin_.arrive_and_wait();
  }
  void run() {
    begin_.arrive_and_wait();
    copy_part(0);
    end_.arrive_and_wait();
  }

 private:
  void copy_part(std::ptrdiff_t i) const {
    auto const part = static_cast<std::size_t>(i), parts = static_cast<std::size_t>(parts_);
    std::size_t const first = bytes_ * part / parts, last = bytes_ * (part + 1) / parts;
    std::memcpy(to_ + first, from_ + first, last - first);
  }

  char* to_;
  char const* from_;
  std::size_t bytes_;
  std::ptrdiff_t parts_ = std::max(1u, std::thread::hardware_concurrency());
  std::barrier<> begin_{parts_}, end_{parts_};
  std::vector<std::jthread> threads_;  // last: they end before the rest does
};

}  // namespace

// The runtime seam has no such copy: it is the driver's own, by name.
std::function<void()> device_copy(void* to, void const* from, std::size_t bytes) {
  if (on_cpu) {
    auto const copy = std::make_shared<cpu_copy>(to, from, bytes);
    return [copy] { copy->run(); };
  }
  bool const cuda = be::rt::dl_device_type == kDLCUDA;
  shared_library const driver =
      cuda ? shared_library{"libcuda.so.1"}
           : shared_library{"libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.5"};
  int (*copy)(void*, void const*, std::size_t, void*);
  driver.find(copy, cuda ? "cuMemcpyDtoDAsync_v2" : "hipMemcpyDtoDAsync");
  return [=] {
    if (copy(to, from, bytes, nullptr) != 0) throw std::runtime_error("copy on the device failed");
  };
}

stopwatch::stopwatch() {
  if (!on_cpu) flushed_ = tensor(dtype::fp32, {flush_bytes / 4});
}

double stopwatch::time_once(std::function<void()> const& call) const {
  be::rt::event start, end;
  if (flushed_)
    be::rt::fill_async(flushed_.data(), 0, static_cast<std::size_t>(flushed_.bytes()), nullptr);
  start.record(nullptr);
  call();
  end.record(nullptr);
  return static_cast<double>(milliseconds(start, end));
}

std::vector<timing> stopwatch::time(std::vector<implementation> const& list, int repeats,
                                    double seconds) const {
  std::vector<std::vector<double>> ms(list.size());
  for (auto const& x : list)
    for (int i = 0; i < (on_cpu ? 1 : 3); ++i) time_once(x.call);
  auto const begin = std::chrono::steady_clock::now();
  for (int r = 0; r < repeats; ++r) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::size_t const which = r % 2 == 0 ? i : list.size() - 1 - i;
      ms[which].push_back(time_once(list[which].call));
    }
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
    if (r + 1 >= 3 && taken.count() > seconds) break;
  }
  std::vector<timing> all;
  for (auto& x : ms) all.push_back(summary(std::move(x)));
  return all;
}

}  // namespace tk::bench
