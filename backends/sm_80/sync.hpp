// SPDX-License-Identifier: MIT
// Rings of slots that the warps which read them also fill, each its part. No block barrier is
// in the way: a warp may be as far ahead of the slowest one as there are slots. `full` of a slot
// counts its lanes, each when its own copies are there; `empty` its warps.
#pragma once
#include "backends/sm_80/barriers.hpp"
#include "backends/sm_80/copy.hpp"

namespace tk::be {

template <class Slot, int N> class ring {
 public:
  // For worker `me` of the `of` that fill and read it.
  TK_DEVICE ring(ring_memory<Slot, N>& m, ring_barriers<N>& b, int me = 0, int of = 1)
      : memory_(m), barriers_(b), me_(me), of_(of) {}

  // ---- filling; load is load(slot, arrival)
  // Whether every warp has released the slot to fill next.
  TK_DEVICE bool is_free() const {
    return ptx::all(ptx::barrier_test(ptx::smem(&barriers_.empty[back_.slot]), back_.phase ^ 1));
  }
  TK_DEVICE void await_free() const {
    ptx::barrier_wait(ptx::smem(&barriers_.empty[back_.slot]), back_.phase ^ 1);
  }
  template <class Load> TK_DEVICE void put(Load load) {
    bool plain = false;
    load(memory_.slot[back_.slot], arrival{ptx::opaque(worker_lane()), me_, of_, turn_, plain});
    std::uint32_t const full = ptx::smem(&barriers_.full[back_.slot]);
    if (plain) {
      ptx::copy_wait();
      ptx::barrier_arrive(full);
    } else {
      ptx::copy_arrive(full);
    }
    back_.next();
    ++filled_;
  }
  // Slots filled and not taken.
  TK_DEVICE int filled() const { return filled_; }

  // ---- reading
  TK_DEVICE Slot& take() {
    ptx::barrier_wait(ptx::smem(&barriers_.full[front_.slot]), front_.phase);
    Slot& s = memory_.slot[front_.slot];
    front_.next();
    --filled_;
    return s;
  }
  TK_DEVICE Slot& held(int i) {
    int const slot = oldest_ + i;
    return memory_.slot[slot < N ? slot : slot - N];
  }
  TK_DEVICE void release() {
    ptx::warp_sync();
    if (worker_lane() % warp_lanes == 0) ptx::barrier_arrive(ptx::smem(&barriers_.empty[oldest_]));
    oldest_ = oldest_ + 1 == N ? 0 : oldest_ + 1;
  }
  // Stores have read the slot when store_async returns.
  TK_DEVICE void release_when_stored() { release(); }

 private:
  ring_memory<Slot, N>& memory_;
  ring_barriers<N>& barriers_;
  ring_place<N> front_, back_;
  int me_, of_, turn_ = 0, oldest_ = 0, filled_ = 0;
};

// All workers compute at once; turns are advice, and not taken here.
struct turns {
  TK_DEVICE void await() const {}
  TK_DEVICE void pass() const {}
};

}  // namespace tk::be
