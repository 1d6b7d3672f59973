// SPDX-License-Identifier: MIT
// Rings, and the meeting places of workers. A slot is filled, by its reader's own thread, when it
// is taken; slots follow one another in a circle, so that several may be held. Every worker has
// slots of its own.
#pragma once
#include <atomic>
#include <barrier>
#include <optional>

#include "backends/host/few_rows.hpp"

namespace tk::be {

template <class Slot, int N, class Fill> class ring {
 public:
  ring(Slot (&slots)[N], Fill fill) : slots_(slots), fill_(fill) {}
  Slot& take() {
    Slot& s = slots_[taken_ % N];
    fill_(s, taken_++, arrival{});
    return s;
  }
  void try_wait() {}
  void refill() {}
  Slot& peek(int i) { return slots_[(released_ + i) % N]; }
  void release() { ++released_; }
  void release_when_stored() { release(); }

  // core/accumulate.hpp: products of what lies inside the tensors, of tiles as load names them.
  template <bool TransposeA, bool TransposeB, int R, int C, class Left, class Right>
  void accumulate(reg_tile<float, R, C>& sum, int steps, Left left, Right right) {
    for (int step = 0; step < steps; ++step) {
      Slot& s = slots_[taken_ % N];
      loaded_tiles loaded;
      fill_(s, taken_++, arrival{&loaded});
      auto const &a = left(s), &b = right(s);
      product_of_loaded<TransposeA, TransposeB>(sum, a, b, loaded);
      release();
    }
  }

 private:
  Slot (&slots_)[N];
  Fill fill_;
  int taken_ = 0, released_ = 0;
};

// All workers compute at once; turns are advice, and not taken here.
struct turns {
  void await() const {}
  void pass() const {}
};

// Between workers of different blocks: signal lets whoever waits for the flag read what this worker
// has stored in global memory; wait_for waits for that, and leaves *flag zero. A wait may only be
// for a task that was dealt earlier, else it can hang.
inline void signal(worker, unsigned* flag) {
  stores_settle();
  std::atomic_ref<unsigned>(*flag).store(1, std::memory_order_release);
  std::atomic_ref<unsigned>(*flag).notify_one();
}
inline void wait_for(worker, unsigned* flag) {
  std::atomic_ref<unsigned>(*flag).wait(0, std::memory_order_acquire);
  *flag = 0;
}
// A counter that many may wait for: count_up adds 1 to it, and lets whoever has waited for that
// many read what this worker has stored in global memory; wait_for_count waits until it is at least
// `count`, and leaves it. A wait may only be for tasks that were dealt earlier, else it can hang.
inline void count_up(worker, unsigned* counter) {
  stores_settle();
  std::atomic_ref<unsigned>(*counter).fetch_add(1, std::memory_order_release);
  std::atomic_ref<unsigned>(*counter).notify_all();
}
inline void wait_for_count(worker, unsigned* counter, unsigned count) {
  std::atomic_ref<unsigned> const x(*counter);
  for (;;) {
    unsigned const now = x.load(std::memory_order_acquire);
    if (now >= count) return;
    x.wait(now, std::memory_order_acquire);
  }
}
// For additions to global memory (backends/sm_80/barriers.hpp), here the same, and of a whole
// worker.
template <class Who> inline unsigned peek_count(Who const&, unsigned const*) { return 0; }
template <class Who>
inline void wait_to_add(Who const& w, unsigned* counter, unsigned count, unsigned) {
  wait_for_count(w, counter, count);
}
inline worker own_warp(worker w) { return w; }

// Places in shared memory, of which many lanes want some: adds n to the counter of those taken, and
// gives what it was. Who gets which is up to the lanes' schedule; how many are taken is not. Orders
// no memory.
inline unsigned reserve(unsigned* taken, unsigned n) {
  return std::atomic_ref<unsigned>(*taken).fetch_add(n, std::memory_order_relaxed);
}

// Signals between workers of a block (core/block.hpp), each a number whose last bit says how often
// it was sent.
template <int N> class signals_of_block {
 public:
  struct shared {
    std::atomic<unsigned> sent[N > 0 ? N : 1] = {};
  };
  explicit signals_of_block(shared& of) : of_(of) {}
  void send(int i) {
    of_.sent[i].fetch_xor(1, std::memory_order_release);
    of_.sent[i].notify_one();
  }
  void await(int i) {
    of_.sent[i].wait(phases_ >> i & 1, std::memory_order_acquire);
    phases_ ^= 1u << i;
  }

 private:
  shared& of_;
  unsigned phases_ = 0;
};

// Where the workers of a block meet, in two halves.
template <int Workers> class meeting {
 public:
  struct nobody {  // to wait for; a barrier takes memory from the heap
    explicit nobody(int) {}
  };
  struct shared {
    std::conditional_t<(Workers > 1), std::barrier<>, nobody> all{Workers};
  };
  explicit meeting(shared& of) : of_(of) {}
  void arrive() {
    if constexpr (Workers > 1) {
      held_[arrived_ % 2].emplace(of_.all.arrive());
      ++arrived_;
    }
  }
  void await() {
    if constexpr (Workers > 1) of_.all.wait(std::move(*held_[awaited_++ % 2]));
  }

 private:
  shared& of_;
  std::optional<std::barrier<>::arrival_token> held_[2];  // at most one arrival ahead
  unsigned arrived_ = 0, awaited_ = 0;
};

}  // namespace tk::be
