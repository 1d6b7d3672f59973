// SPDX-License-Identifier: MIT
// The parts of an emulated device: lanes (fibers), warps, blocks, and teams. A team is what must
// run together: the blocks of one cluster, or one block. One OS thread runs the lanes of one team
// at a time. Models of hardware units (mbarriers, bulk copies, ...) keep their state with the
// block.
#pragma once
#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "backends/emulator/arena.hpp"
#include "backends/emulator/fiber.hpp"
#include "backends/emulator/order.hpp"
#include "core/status.hpp"

namespace tk::emulator {

using location = std::source_location;

struct lane;
struct warp;
struct block;
struct team;

// What a lane that can't go on waits for; `state` describes `subject` in a report.
struct waiting {
  char const* what = "";
  location where;
  std::string (*state)(lane const&, std::uint64_t subject) = nullptr;
  std::uint64_t subject = 0;
};

inline constexpr int named_barriers = 16;

// One thread of the device.
struct lane {
  fiber context;
  warp* of = nullptr;
  int thread = 0, index = 0;  // in the block, in the warp
  bool ended = false, polling = false;
  waiting wait;
  void const* polled = nullptr;  // the integer last polled, and what it was
  std::uint64_t polled_value = 0;
  int polled_bytes = 0;
  std::array<std::uint32_t, named_barriers> barrier_generation{};
  std::vector<std::function<void()>> later;
  known_fences fences;
};

struct warp {
  block* of = nullptr;
  lane* lanes = nullptr;
  int index = 0, size = 0;            // in the team; lanes
  std::uint64_t live = 0, ready = 0;  // by lane
  std::uint64_t arrived = 0;          // at the collective in progress:
  char const* what = nullptr;
  location where;
  std::array<void*, 64> operands{};
  edge meeting;  // of its barrier
};

// Lanes meet; those that sync are parked until `expected` have come.
struct barrier {
  int expected = 0, arrived = 0;
  std::uint32_t generation = 1;  // how often it has opened, plus one
  location first;
  edge edges[2];
  std::vector<lane*> parked;
};

// The state of one kind of hardware unit in a block; made when first used, kept for later blocks.
class model {
 public:
  virtual ~model() = default;
  virtual void begin(block&) = 0;
  virtual void lane_ends(lane&) {}
  virtual void end(block&) {}
  virtual void warp_rests() {}  // see team::watcher
};
enum model_id {
  mbarrier_id,
  bulk_id,
  product_id,
  register_id,
  proxy_id,
  copy_id,
  agreement_id,
  gather_id,
  model_count
};

struct block {
  team* of = nullptr;
  warp* warps = nullptr;
  int warp_count = 0, threads = 0;
  int index = 0, rank = 0;  // in the grid, in the cluster
  int live = 0;
  std::uint32_t ran = 0;  // the warps that ran since the last proxy fence, by bit
  char* shared = nullptr;
  std::array<barrier, named_barriers> barriers;
  std::array<std::unique_ptr<model>, model_count> models;

  lane& at(int thread) const {
    int const size = warps->size;
    return warps[thread / size].lanes[thread % size];
  }
};

// Work that the hardware does by itself. When no lane can go on, jobs that are wanted run in this
// order, so that each comes as late as it can; in a random schedule each has its own patience.
struct job {
  enum kind { load, product, store_read, store_write } order;
  location where;
  lane* issuer;
  std::uint64_t due = 0;
  job(kind k, location w, lane* l) : order(k), where(w), issuer(l) {}
  virtual ~job() = default;
  virtual void run() = 0;
  virtual bool wanted() const { return true; }
  virtual bool uses(block const& b) const { return issuer->of->of == &b; }  // its shared memory
};

// Of a launch. Hardware promises 16 bytes of alignment to dynamic shared memory; no more is given.
struct shape {
  int blocks = 1, threads = 32, warp_lanes = 32, cluster = 1;
  std::size_t smem_bytes = 0;
  std::size_t smem_offset = 1024 + 16;  // where dynamic shared memory begins; 1024 at least
};

// Lanes with their stacks, in chunks that never move.
class lane_pool {
 public:
  static constexpr int chunk = 64;
  ~lane_pool() {
    for (auto& c : chunks_)
      for (auto& l : c->lanes) sanitizer::end_thread(l.context.thread, l.context.quiet_depth);
  }
  lane* at(int i, void (*entry)()) {
    while (i / chunk >= static_cast<int>(chunks_.size())) {
      chunks_.push_back(std::make_unique<part>());
      for (int k = 0; k < chunk; ++k)
        chunks_.back()->memory.prepare(chunks_.back()->lanes[k].context, k, entry);
    }
    return &chunks_[static_cast<std::size_t>(i / chunk)]->lanes[i % chunk];
  }
  std::size_t size() const { return chunks_.size() * chunk; }

 private:
  struct part {
    stacks memory{chunk};
    std::array<lane, chunk> lanes;
  };
  std::vector<std::unique_ptr<part>> chunks_;
};

// What a launch asks for, as one team sees it.
struct task {
  shape form;
  void (*body)(void const*) = nullptr;
  void const* closure = nullptr;
  std::uint64_t seed = 0;
  void* finished = nullptr;  // what lanes and engines publish at their end
};

// What runs together, with the memory that it runs in.
struct team {
  fiber* home = nullptr;
  task doing;
  lane_pool pool;
  arena memory;
  std::vector<std::unique_ptr<block>> blocks;
  std::vector<warp> warps;
  std::vector<std::unique_ptr<job>> jobs;
  std::vector<void*> engines;  // threads of the hardware's, to ThreadSanitizer
  std::array<void*, 16> copy_engines{};
  unsigned next_copy = 0;
  barrier cluster;
  int live = 0, polling = 0;
  std::uint32_t fences = 0;  // proxy fences so far
  unsigned uses = 0;
  std::array<char, 2> ends{};  // what lanes and engines publish at the end of this use and the last
  bool has_company = false;    // other teams that could run here
  warp* last = nullptr;        // ran last
  int last_lane = 0;
  bool down = false;  // the round that goes on, in turn
  // A model that wants to know when no lane of a warp can go on; until then that warp runs.
  model* watcher = nullptr;
  warp* watched = nullptr;
  std::uint64_t random = 0;
  // Of a random schedule; these lanes of some warps in a row only run when no others can.
  std::uint64_t picks = 0, next_due = 0;
  struct {
    warp* first;
    int count;
    std::uint64_t lanes, until;
  } held{};
  std::exception_ptr thrown;  // by a lane

  ~team() {
    for (void* e : engines) sanitizer::end_thread(e);
  }
  bool is_random() const { return doing.seed != 0; }
  // Of 0 ... n - 1 (xorshift64).
  std::uint64_t draw(std::uint64_t n) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    return (random >> 11) % n;
  }
  void* this_end() { return &ends[uses & 1]; }
  void* last_end() { return &ends[(uses + 1) & 1]; }
  void* new_engine() {
    if (!sanitizer::sees_races) return nullptr;
    engines.push_back(sanitizer::new_thread());
    return engines.back();
  }
  // Copies take a few engines in turn: one alone would seem to do them in order.
  void* copy_engine() {
    void*& e = copy_engines[next_copy++ % copy_engines.size()];
    if (!e) e = new_engine();
    return e;
  }
};

constinit inline thread_local lane* current = nullptr;

TK_UNSANITIZED inline lane& self() { return *current; }
inline block& own_block(lane const& l) { return *l.of->of; }
inline team& own_team(lane const& l) { return *l.of->of->of; }

// What lane `l` did and knows is known to all that observe the edge later.
TK_UNSANITIZED inline void publish(lane const& l, edge& e) {
  sanitizer::publish(&e.order);
  sanitizer::quiet const q;
  e.fences.join(l.fences);
}
TK_UNSANITIZED inline void observe(lane& l, edge& e) {
  sanitizer::observe(&e.order);
  sanitizer::quiet const q;
  l.fences.join(e.fences);
}

template <class M> M& model_of(block& b) {
  auto& m = b.models[M::id];
  if (!m) {
    m = std::make_unique<M>();
    m->begin(b);
  }
  return static_cast<M&>(*m);
}

// A null `next` is the OS thread's own stack.
TK_UNSANITIZED inline void leave_for(fiber& from, team& t, lane* next) {
  current = next;
  switch_to(from, next ? next->context : *t.home);
}

}  // namespace tk::emulator
