// SPDX-License-Identifier: MIT
// The grid in parallel, by Kokkos's threads; a single task runs in the caller's thread.
//   Where the program has initialised Kokkos, a launch is a parallel_for of its own.
//   Where it has not, a thread of the library's own initialises Kokkos at the first launch of
//   several tasks, and starts one parallel_for that never ends: its threads sleep until a launch
//   gives them work. OpenMP's own threads would spin for milliseconds after each launch.
// Nothing is joined or finalised at exit: a program may end while another thread is in a call, and
// destructors of static objects may call. Launches take turns.
#pragma once
#include <pthread.h>

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
  // Calls body(next) in several threads at once, the caller's among them; next() deals 0, 1, ...
  // and ends at `tasks`.
  template <class Body> static void run(int tasks, Body body) {
    if (threads_lost)
      throw error(status::runtime_error,
                  "this process was forked after threads had been started for its parent's calls, "
                  "and a fork does not copy threads; fork before the first call, or start a new "
                  "program");
    std::atomic<int> dealt{0};
    auto const next = [&] { return dealt.fetch_add(1, std::memory_order_relaxed); };
    if (tasks == 1) return body(next);
    std::exception_ptr failure;
    std::mutex failing;
    only().parallel(tasks, [&] {
      try {
        body(next);
      } catch (...) {
        std::lock_guard const lock(failing);
        failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
  }

 private:
  using space = Kokkos::DefaultHostExecutionSpace;
  using work = std::function<void()>;

  static inline std::atomic<bool> started{false};  // threads of the library's own
  // Kokkos cannot be initialised any more when static objects are being destroyed.
  static inline bool exiting = false;
  struct exit_watch {
    ~exit_watch() { exiting = true; }
  };
  static inline exit_watch const watches_exit{};
  // In the child of a fork, whether the parent had threads for its launches.
  static inline bool threads_lost = false;
  static inline bool const watches_forks =
      (pthread_atfork(nullptr, nullptr,
                      [] {
                        if (started || Kokkos::is_initialized()) threads_lost = true;
                      }),
       true);

  static grid& only() {
    static grid& g = *new grid;  // never destroyed
    return g;
  }

  void parallel(int tasks, work const& part) {
    std::lock_guard const lock(launching_);
    if (!started && Kokkos::is_initialized()) {
      try {
        int const width = std::min(tasks, space().concurrency());
        Kokkos::parallel_for("tk", Kokkos::RangePolicy<space>(0, width), [&](int) { part(); });
        Kokkos::fence();
      } catch (std::exception const&) {
        part();  // Kokkos refuses to start work from this thread of the program
      }
      return;
    }
    if (!started && exiting) return part();
    if (!started) start();
    call_for_help(std::min(tasks, width_) - 1, part);
    part();
    finish();
  }

  // Up to `threads` others run `part`, as soon as they wake.
  void call_for_help(int threads, work const& part) {
    std::lock_guard const lock(talking_);
    part_ = &part;
    wanted_ = threads;
    if (threads > 0) wake_.notify_all();
  }
  // Those that have not woken by now are not needed any more.
  void finish() {
    std::unique_lock lock(talking_);
    wanted_ = 0;
    done_.wait(lock, [this] { return running_ == 0; });
  }
  void serve() {
    std::unique_lock lock(talking_);
    for (;;) {
      wake_.wait(lock, [this] { return wanted_ > 0; });
      --wanted_;
      ++running_;
      work const& part = *part_;
      lock.unlock();
      part();
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  void start() {
    std::exception_ptr failure;
    std::unique_lock lock(talking_);
    std::thread([&] {
      try {
        if (!Kokkos::is_initialized()) initialise();
      } catch (...) {
        std::lock_guard const failing(talking_);
        failure = std::current_exception();
        return done_.notify_one();
      }
      open();
    }).detach();
    done_.wait(lock, [&] { return started || failure; });
    if (failure) std::rethrow_exception(failure);
  }
  // The thread that initialised Kokkos stays here, and so do Kokkos's others.
  void open() {
    int const width = space().concurrency();
    {
      std::lock_guard const lock(talking_);
      width_ = width;
      started = true;
      done_.notify_one();
    }
    if (width == 1) return;
    try {
      Kokkos::parallel_for("tk", Kokkos::RangePolicy<space>(0, width), [this](int) { serve(); });
    } catch (...) {}  // nobody serves: callers do all of their tasks
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

  std::mutex launching_, talking_;
  std::condition_variable wake_, done_;
  work const* part_ = nullptr;
  int width_ = 1;    // threads of Kokkos
  int wanted_ = 0;   // that have not begun with *part_
  int running_ = 0;  // that have
};

}  // namespace tk::be
