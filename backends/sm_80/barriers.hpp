// SPDX-License-Identifier: MIT
// What rings of every NVIDIA backend are made of, and where workers meet. A slot has two mbarriers:
// `full` completes when its bytes have arrived, `empty` when every reader has released it.
#pragma once
#include "backends/backend.hpp"

namespace tk::be {

// One lane arrives for all whose work a barrier between them has settled. compute-sanitizer's
// racecheck does not follow that: to it, an arrival speaks for its lane alone. For its sake every
// lane arrives where TK_RACECHECK is defined.
#if defined(TK_RACECHECK)
inline constexpr bool every_lane_arrives = true;
#else
inline constexpr bool every_lane_arrives = false;
#endif
constexpr int arrivals_of(int lanes) { return every_lane_arrives ? lanes : 1; }
TK_DEVICE void arrive_for_all(std::uint32_t bar, int lane) {
  if (every_lane_arrives || lane == 0) ptx::barrier_arrive(bar);
}

template <class Slot, int N> struct ring_memory {
  Slot slot[N];
};
template <int N> struct ring_barriers {
  std::uint64_t full[N], empty[N];
  TK_DEVICE void init(int readers, int fillers) {
    for (int i = 0; i < N; ++i) {
      ptx::barrier_init(ptx::smem(&full[i]), fillers);
      ptx::barrier_init(ptx::smem(&empty[i]), readers);
    }
  }
};

template <int N> struct ring_place {
  int slot = 0, phase = 0;
  TK_DEVICE void next() {
    if (++slot == N) slot = 0, phase ^= 1;
  }
  // n < N slots on.
  TK_DEVICE ring_place after(int n) const {
    int const there = slot + n;
    return {there < N ? there : there - N, there < N ? phase : phase ^ 1};
  }
};

// Between workers of different blocks: signal lets whoever waits for the flag read what this worker
// has stored in global memory; wait_for waits for that, and leaves *flag zero. A wait may only be
// for a task that was dealt earlier, else it can hang.
template <class Who> TK_DEVICE void signal(Who const& w, unsigned* flag) {
  w.sync();
  if (w.leader()) ptx::add_release(flag, 1);
}
template <class Who> TK_DEVICE void wait_for(Who const& w, unsigned* flag) {
  if (w.leader()) {
    while (ptx::load_acquire(flag) == 0) {}
    *flag = 0;
  }
  w.sync();
}
// A counter that many may wait for: count_up adds 1 to it, and lets whoever has waited for that
// many read what this worker has stored in global memory; wait_for_count waits until it is at least
// `count`, and leaves it. A wait may only be for tasks that were dealt earlier, else it can hang.
template <class Who> TK_DEVICE void count_up(Who const& w, unsigned* counter) {
  signal(w, counter);
}
template <class Who>
TK_DEVICE void wait_for_count(Who const& w, unsigned* counter, unsigned count) {
  if (w.leader()) {
    while (ptx::load_acquire(counter) < count) {}
  }
  w.sync();
}
// For additions to global memory that nobody but later ones waits for, store_add: peek_count asks
// what the counter is, and wait_to_add is wait_for_count where that was too little. (They are done
// where the counter is, after it was read.)
template <class Who> TK_DEVICE unsigned peek_count(Who const& w, unsigned const* counter) {
  return w.leader() ? ptx::load_relaxed(counter) : 0;
}
template <class Who>
TK_DEVICE void wait_to_add(Who const& w, unsigned* counter, unsigned count, unsigned peeked) {
  if (w.leader() && peeked < count) {
    while (ptx::load_acquire(counter) < count) {}
  }
  w.sync();
}
// A worker's warp, for what each of them waits for and counts by itself.
struct lone_warp {
  TK_DEVICE bool leader() const { return ptx::thread() % warp_lanes == 0; }
  TK_DEVICE void sync() const { ptx::warp_sync(); }
};
template <class Worker> TK_DEVICE lone_warp own_warp(Worker const&) { return {}; }

// Places in shared memory, of which many lanes want some: adds n to the counter of those taken, and
// gives what it was. Who gets which is up to the lanes' schedule; how many are taken is not. Orders
// no memory.
TK_DEVICE unsigned reserve(unsigned* taken, unsigned n) { return ptx::add_shared(taken, n); }

// Signals between workers of a block, an mbarrier each: what a worker stored in shared memory
// before its n-th send(i), and what it had read, is settled for the one worker that awaits the
// signal after its n-th await(i). It is sent again only when it has been awaited.
template <int N> struct signal_barriers {
  std::uint64_t bar[N];
  TK_DEVICE void init() {
    for (auto& b : bar) ptx::barrier_init(ptx::smem(&b), worker_warps * arrivals_of(warp_lanes));
  }
};
template <> struct signal_barriers<0> {
  TK_DEVICE void init() {}
};
template <int N> class signals_of_block {
  static_assert(N <= 32, "a bit for each phase");

 public:
  TK_DEVICE explicit signals_of_block(signal_barriers<N>& m) : bar_(ptx::smem(&m)) {}
  TK_DEVICE void send(int i) const {
    ptx::warp_sync();
    arrive_for_all(bar_ + 8 * i, ptx::thread() % warp_lanes);
  }
  TK_DEVICE void await(int i) {
    ptx::barrier_wait(bar_ + 8 * i, phases_ >> i & 1);
    phases_ ^= 1u << i;
  }

 private:
  std::uint32_t bar_;
  unsigned phases_ = 0;
};

// Where the workers of a block meet, in two halves: what a worker stored in shared memory before
// its n-th arrive(), and what it had read, is settled for all after their n-th await(). A worker
// may arrive once more before the others have awaited.
template <int Workers> class meeting {
 public:
  TK_DEVICE static void init(std::uint64_t& bar) {
    ptx::barrier_init(ptx::smem(&bar), worker_warps * Workers * arrivals_of(warp_lanes));
  }
  TK_DEVICE explicit meeting(std::uint64_t& bar) : bar(ptx::smem(&bar)) {}
  TK_DEVICE void arrive() const {
    ptx::warp_sync();
    arrive_for_all(bar, ptx::thread() % warp_lanes);
  }
  TK_DEVICE void await() {
    ptx::barrier_wait(bar, phase);
    phase ^= 1;
  }

 private:
  std::uint32_t bar;
  int phase = 0;
};

}  // namespace tk::be
