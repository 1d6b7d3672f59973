// SPDX-License-Identifier: MIT
// Rings of slots that the warps which read them fill in turn. No block barrier is in the way: a
// warp may be as far ahead of the slowest one as there are slots. `full` of a slot counts the lanes
// that fill it, each when its own copies are there; `empty` the warps that read it.
#pragma once
#include "backends/sm_80/barriers.hpp"
#include "backends/sm_80/copy.hpp"

namespace tk::be {

template <class Slot, int N, int Warps> class ring {
 public:
  // A large slot is filled by two warps: one alone would fall behind the others.
  static constexpr int fill_warps = sizeof(Slot) > 32 * 1024 ? 2 : 1, groups = Warps / fill_warps;
  TK_DEVICE static void init(ring_barriers<N>& b) {
    b.init(Warps * arrivals_of(warp_lanes), fill_warps * warp_lanes);
  }
  // For warp `me` of the Warps.
  TK_DEVICE ring(ring_memory<Slot, N>& m, ring_barriers<N>& b, int me)
      : memory_(m), barriers_(b), ahead_(me / fill_warps) {}

  // ---- filling; load is load(slot, arrival)
  // Whether it is time to fill this warp's next slot, half a ring ahead: later, copies would be
  // late, and sooner, slower warps would still read it. A warp that holds it itself must not wait
  // for it.
  TK_DEVICE bool is_time() const { return ahead_ <= N / 2 && ahead_ + held_ < N; }
  // Whether every warp has released it.
  TK_DEVICE bool is_given_back() const {
    auto const at = front_.after(ahead_);
    return ptx::all(ptx::barrier_test(ptx::smem(&barriers_.empty[at.slot]), at.phase ^ 1));
  }
  // Whether it is the slot to take next.
  TK_DEVICE bool is_due() const { return ahead_ == 0; }
  // Waits until every warp has released the slot.
  template <class Load> TK_DEVICE void put(Load load) {
    auto const at = front_.after(ahead_);
    ptx::barrier_wait(ptx::smem(&barriers_.empty[at.slot]), at.phase ^ 1);
    bool plain = false;
    int const lane = worker_lane(), warp = lane / warp_lanes % fill_warps;
    load(memory_.slot[at.slot], arrival{lane % warp_lanes, warp, fill_warps, next_tile_, plain});
    std::uint32_t const full = ptx::smem(&barriers_.full[at.slot]);
    if (plain) {
      ptx::copy_wait();
      ptx::barrier_arrive(full);
    } else {
      ptx::copy_arrive(full);
    }
    ahead_ += groups;
  }

  // ---- reading
  TK_DEVICE Slot& take() {
    ptx::barrier_wait(ptx::smem(&barriers_.full[front_.slot]), front_.phase);
    Slot& s = memory_.slot[front_.slot];
    front_.next();
    --ahead_, ++held_;
    return s;
  }
  TK_DEVICE Slot& peek(int i) {
    int const slot = oldest() + i;
    return memory_.slot[slot < N ? slot : slot - N];
  }
  TK_DEVICE void release() {
    ptx::warp_sync();
    arrive_for_all(ptx::smem(&barriers_.empty[oldest()]), worker_lane() % warp_lanes);
    --held_;
  }
  // Stores have read the slot when store_async returns.
  TK_DEVICE void release_when_stored() { release(); }

 private:
  TK_DEVICE int oldest() const { return front_.slot - held_ + (front_.slot < held_ ? N : 0); }
  ring_memory<Slot, N>& memory_;
  ring_barriers<N>& barriers_;
  ring_place<N> front_;   // taken next
  int ahead_, held_ = 0;  // slots from there to the one to fill next; slots not yet released
  int next_tile_ = 0;
};

// All workers compute at once; turns are advice, and not taken here.
struct turns {
  TK_DEVICE void await() const {}
  TK_DEVICE void pass() const {}
};

// x = make(), by one lane for all of its warp: in shared memory, since registers are for tiles.
template <class X, class Make> TK_DEVICE void set_for_warp(X& x, Make make) {
  ptx::warp_sync();
  if (ptx::thread() % warp_lanes == 0) x = make();
  ptx::warp_sync();
}

}  // namespace tk::be
