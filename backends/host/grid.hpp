// SPDX-License-Identifier: MIT
// The grid in parallel, through Kokkos. If the program has not initialised Kokkos itself, a thread
// of this library's own does so at the first launch and starts all parallel work from then on,
// because Kokkos lets only the thread that initialised it use all of its threads. Launches take
// turns.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <Kokkos_Core.hpp>

#include "core/status.hpp"

namespace tk::be {

class grid {
 public:
  // Calls body(next) in every thread of Kokkos at once; next() deals 0, 1, ... and ends at `tasks`.
  template <class Body> static void run(int tasks, Body body) {
    std::atomic<int> dealt{0};
    std::exception_ptr failure;
    std::mutex failing;
    auto const next = [&] { return dealt.fetch_add(1, std::memory_order_relaxed); };
    auto const part = [&](int) {
      try {
        body(next);
      } catch (...) {
        std::lock_guard const lock(failing);
        failure = std::current_exception();
      }
    };
    only().parallel(tasks, part);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  using space = Kokkos::DefaultHostExecutionSpace;

  static grid& only() {
    static grid g;
    return g;
  }

  template <class Part> void parallel(int tasks, Part const& part) {
    std::lock_guard const lock(launching_);
    auto const start = [&] {
      int const width = std::min(tasks, space().concurrency());
      Kokkos::parallel_for("tk", Kokkos::RangePolicy<space>(0, width), part);
      Kokkos::fence();
    };
    if (own_.joinable() || !Kokkos::is_initialized()) return hand_over(start);
    try {
      start();
    } catch (std::exception const&) {
      part(0);  // Kokkos refuses to start work from this thread of the program
    }
  }

  // Runs `work` in the library's own thread and waits for it.
  void hand_over(std::function<void()> work) {
    std::unique_lock lock(talking_);
    if (!own_.joinable()) own_ = std::thread([this] { serve(); });
    work_ = std::move(work);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !work_; });
    // Made after Kokkos's own statics, so that Kokkos is finalised before they go.
    static closing const at_exit{*this};
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  void serve() {
    std::unique_lock lock(talking_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ || ending_; });
      if (!work_) break;
      try {
        if (!Kokkos::is_initialized()) initialise();
        work_();
      } catch (...) { failure_ = std::current_exception(); }
      work_ = nullptr;
      changed_.notify_all();
    }
    if (Kokkos::is_initialized()) Kokkos::finalize();
  }
  // Says nothing on the terminal.
  static void initialise() {
#if KOKKOS_VERSION >= 30700
    if (Kokkos::is_finalized())
      throw error(status::runtime_error, "the program has finalised Kokkos, which TK still needs");
    Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
#else
    Kokkos::InitArguments quiet;
    quiet.disable_warnings = true;
#if defined(KOKKOS_ENABLE_THREADS)  // its default is a single one
    if (!std::getenv("KOKKOS_NUM_THREADS"))
      quiet.num_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#endif
    Kokkos::initialize(quiet);
#endif
  }

  struct closing {
    grid& of;
    ~closing() {
      {
        std::lock_guard const lock(of.talking_);
        of.ending_ = true;
        of.changed_.notify_all();
      }
      of.own_.join();
    }
  };

  std::mutex launching_, talking_;
  std::condition_variable changed_;
  std::function<void()> work_;
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread own_;
};

}  // namespace tk::be
