// SPDX-License-Identifier: MIT
// Rings of slots in LDS, filled by the waves that also read them, and the meeting places of
// workers. To take slot n, a wave waits for its own copies into it, and then for the other waves:
// now all of slot n is there, and nobody reads any more what was released before; the next copies
// go into those slots. One barrier per slot, the same in every wave, because all take and release
// alike. Copies are counted by the hardware, in order (vmcnt): waiting for a slot leaves later
// slots running, where every slot takes equally many.
#pragma once
#include "backends/hip/copy.hpp"

namespace tk::be {

template <class Slot, int N> struct ring_memory {
  Slot slot[N];
};

// Waits for all copies of this wave but those of the `later` slots begun last, which are `Each` for
// one slot.
template <int Each, int Most> TK_DEVICE void wait_but(int later) {
  if constexpr (Most > 0 && Each * Most < 64) {
    if (later >= Most) return gcn::wait_copies<Each * Most>();
    wait_but<Each, Most - 1>(later);
  } else if constexpr (Most > 0) {
    wait_but<Each, Most - 1>(later);
  } else {
    gcn::wait_copies<0>();
  }
}

// Slots that all waves fill and read. Load is load(slot, number, arrival).
template <class Slot, int N, int Waves, class Load> class shared_ring {
 public:
  TK_DEVICE shared_ring(ring_memory<Slot, N>& m, Load load, int wave, int steps)
      : memory_(m), load_(load), wave_(wave), steps_(steps) {
    fill();
  }
  TK_DEVICE Slot& take() {
    Slot& s = memory_.slot[front_];
    for (bool there = false; !there;) {  // once, unless everything filled has been taken
      there = filled_ > taken_;
      if (there) {
        wait_but<each, N - 1>(even_ ? filled_ - taken_ - 1 : 0);
        ++taken_;
      }
      gcn::sync_block();
      fill();
    }
    front_ = next(front_);
    return s;
  }
  TK_DEVICE void try_wait() {}
  TK_DEVICE void refill() {}
  TK_DEVICE Slot& peek(int i) { return memory_.slot[(released_ + i) % N]; }
  TK_DEVICE void release() { ++released_; }

 private:
  static constexpr int each = sizeof(Slot) / copy_bytes / Waves;

  TK_DEVICE static int next(int slot) { return slot + 1 == N ? 0 : slot + 1; }
  TK_DEVICE void fill() {
    while (filled_ < steps_ && filled_ < released_ + N) {
      int copies = 0;
      load_(memory_.slot[back_], filled_, arrival{wave_, Waves, copies});
      even_ = even_ && copies == each;
      back_ = next(back_);
      ++filled_;
    }
  }

  ring_memory<Slot, N>& memory_;
  Load load_;
  int wave_, steps_, front_ = 0, back_ = 0, filled_ = 0, taken_ = 0, released_ = 0;
  bool even_ = true;  // every slot took `each` copies of this wave
};

// What a task has one of: filled when the task begins, by one wave for itself or by all.
template <class Slot, class Wait> class filled_once {
 public:
  TK_DEVICE filled_once(Slot& s, Wait wait) : slot_(s), wait_(wait) {}
  TK_DEVICE Slot& take() {
    wait_();
    return slot_;
  }
  TK_DEVICE void release() {}
  TK_DEVICE void release_when_stored() {}

 private:
  Slot& slot_;
  Wait wait_;
};

// All workers compute at once; turns are advice, and not taken here.
struct turns {
  TK_DEVICE void await() const {}
  TK_DEVICE void pass() const {}
};

// Between workers of different blocks: signal lets whoever waits for the flag read what this worker
// has stored in global memory; wait_for waits for that, and leaves *flag zero. A wait may only be
// for a task that was dealt earlier, else it can hang.
template <class Who> TK_DEVICE void signal(Who const& w, unsigned* flag) {
  w.sync();
  if (w.leader()) gcn::add_release(flag, 1);
}
template <class Who> TK_DEVICE void wait_for(Who const& w, unsigned* flag) {
  if (w.leader()) {
    while (gcn::load_acquire(flag) == 0) {}
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
    while (gcn::load_acquire(counter) < count) {}
  }
  w.sync();
}
// For additions to global memory (backends/sm_80/barriers.hpp), here the same, and of a whole
// worker.
template <class Who> TK_DEVICE unsigned peek_count(Who const&, unsigned const*) { return 0; }
template <class Who>
TK_DEVICE void wait_to_add(Who const& w, unsigned* counter, unsigned count, unsigned) {
  wait_for_count(w, counter, count);
}
TK_DEVICE worker own_warp(worker w) { return w; }

// Places in shared memory, of which many lanes want some: adds n to the counter of those taken, and
// gives what it was. Who gets which is up to the lanes' schedule; how many are taken is not. Orders
// no memory.
TK_DEVICE unsigned reserve(unsigned* taken, unsigned n) { return gcn::add_shared(taken, n); }

// Signals between workers of a block (core/block.hpp), each a number in LDS whose last bit says how
// often it was sent. A block's barrier, which take() has, too, is no way out of a wait for one.
template <int N> struct signal_memory {
  unsigned sent[N];
  TK_DEVICE void clear() {
    for (auto& x : sent) x = 0;
  }
};
template <> struct signal_memory<0> {};
template <int N> class signals_of_block {
 public:
  TK_DEVICE explicit signals_of_block(signal_memory<N>& m)
      : sent_(reinterpret_cast<unsigned*>(&m)) {}
  TK_DEVICE void send(int i) const {
    gcn::sync_wave();
    if (gcn::thread() % warp_lanes == 0) gcn::add_shared_release(sent_ + i, 1);
  }
  TK_DEVICE void await(int i) {
    while ((gcn::load_shared_acquire(sent_ + i) & 1) == (phases_ >> i & 1)) {}
    phases_ ^= 1u << i;
  }

 private:
  unsigned* sent_;
  unsigned phases_ = 0;
};

// Where the workers of a block meet.
struct meeting {
  TK_DEVICE void arrive() const {}
  TK_DEVICE void await() const { gcn::sync_block(); }
};

}  // namespace tk::be
