// SPDX-License-Identifier: MIT
// Rings of shared-memory slots between producers and workers, and the meeting places of workers.
// A slot has two mbarriers: `full` completes when its bytes have arrived, `empty` when every reader
// has released it. A reader may hold several slots and releases the oldest.
#pragma once
#include "backends/sm_80/barriers.hpp"
#include "backends/sm_90/copy.hpp"
#include "backends/sm_90/timeline.hpp"

namespace tk::be {

// The reading end.
template <class Slot, int N, int Cluster> class ring {
 public:
  TK_DEVICE ring(ring_memory<Slot, N>& m, ring_barriers<N>& b, int lane)
      : memory(m), barriers(b), lane(lane) {}
  // Asks whether the next slot is full: if so, take() need not.
  TK_DEVICE void try_wait() {
    is_full = ptx::all(ptx::barrier_test(ptx::smem(&barriers.full[front.slot]), front.phase));
  }
  TK_DEVICE void refill() {}  // producers do
  TK_DEVICE Slot& take() {
    note(event::take);
    if (!is_full) ptx::barrier_wait(ptx::smem(&barriers.full[front.slot]), front.phase);
    is_full = false;
    note(event::taken);
    Slot& s = memory.slot[front.slot];
    front.next();
    return s;
  }
  TK_DEVICE Slot& peek(int i) {
    int const slot = back.slot + i;
    return memory.slot[slot < N ? slot : slot - N];
  }
  TK_DEVICE void release() {
    note(event::release);
    auto const bar = ptx::smem(&barriers.empty[back.slot]);
    if constexpr (Cluster == 1) {
      arrive_for_all(bar, lane);
    } else {
      for (int block = 0; block < Cluster; ++block)
        if (every_lane_arrives || lane == block) ptx::barrier_arrive_at(bar, block);
    }
    back.next();
  }
  // Takes and gives back the next slot, which nobody reads. The first warp waits for it; the others
  // need not: slots are filled in order, and warps meet before it is filled twice.
  TK_DEVICE void pass()
    requires(Cluster == 1)
  {
    if (every_lane_arrives || warp == 0) {
      ptx::barrier_wait(ptx::smem(&barriers.full[front.slot]), front.phase);
      ptx::warp_sync();  // else it may be filled again before a slow lane has seen it full
      arrive_for_all(ptx::smem(&barriers.empty[back.slot]), lane);
    }
    is_full = false;
    front.next();
    back.next();
  }
  // For a ring that counts lanes: every lane says that it has read.
  TK_DEVICE void release_by_lane() {
    ptx::barrier_arrive(ptx::smem(&barriers.empty[back.slot]));
    back.next();
  }
  // For a slot from which store_asyncs of this worker have been issued: with two slots or more, one
  // store each, it is released at the next call, when that store has long been read.
  TK_DEVICE void release_when_stored() {
    if (N == 1 || holds) {
      if (lane == 0) ptx::tma_store_read<(N > 1)>();
      release();
    }
    holds = true;
  }

 private:
  ring_memory<Slot, N>& memory;
  ring_barriers<N>& barriers;
  ring_place<N> front, back;
  int lane, warp = ptx::broadcast(lane / warp_lanes);  // in its reader
  bool holds = false, is_full = false;
};

// The filling end: all lanes of one warp.
template <class Slot, int N> class feed {
 public:
  TK_DEVICE feed(ring_memory<Slot, N>& m, ring_barriers<N>& b, int rank, int lane)
      : memory(m), barriers(b), rank(rank), lane(lane) {}
  template <class Load> TK_DEVICE void put(Load load) {
    note(event::put);
    ptx::barrier_wait(ptx::smem(&barriers.empty[at.slot]), at.phase ^ 1);
    ptx::warp_sync();  // else lane 0 may fill the slot again before a slow lane has seen it empty
    note(event::empty);
    arrival const done{ptx::smem(&barriers.full[at.slot]), rank, lane};
    load(memory.slot[at.slot], done);
    arrive_for_all(done.bar, lane);
    note(event::filling);
    at.next();
  }

 private:
  ring_memory<Slot, N>& memory;
  ring_barriers<N>& barriers;
  ring_place<N> at;
  int rank, lane;
};

// What a worker stored by store_relaxed before its arrive() is there for products after await().
template <int Workers> struct meeting_of_products : meeting<Workers> {
  using meeting<Workers>::meeting;
  TK_DEVICE void arrive() const {
    ptx::proxy_fence();
    meeting<Workers>::arrive();
  }
};

// Workers take turns in a circle: what lies between await and pass runs in one worker at a time.
// Every worker must take the same number of turns in a task. Advice only: it orders no memory.
template <int Workers> struct turns {
  worker w;
  TK_DEVICE void start() const {
    if (Workers > 1 && w.id() == Workers - 1) ptx::named_arrive(8, 2 * worker_lanes);
  }
  TK_DEVICE void await() const {
    note(event::turn);
    if (Workers > 1) ptx::named_sync(8 + w.id(), 2 * worker_lanes);
    note(event::turned);
  }
  TK_DEVICE void pass() const {
    if (Workers > 1) ptx::named_arrive(8 + (w.id() + 1) % Workers, 2 * worker_lanes);
    note(event::pass);
  }
};

}  // namespace tk::be
