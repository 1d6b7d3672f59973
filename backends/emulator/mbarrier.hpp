// SPDX-License-Identifier: MIT
// mbarriers (PTX ISA 9.7.13): eight bytes of shared memory that count arrivals and bytes of
// asynchronous copies. A phase completes when no arrival and no byte is to come; then the next one
// begins. The counts live in those bytes; beside them is kept who waits and what the emulator last
// wrote there, so that a stray store is noticed. A barrier that hardware units or other blocks use
// must have been fenced after its initialisation.
#pragma once
#include "backends/emulator/memory.hpp"

namespace tk::emulator {

struct mbarrier_word {
  std::uint64_t phase : 1, pending : 20, count : 20;
  std::int64_t bytes : 23;
};
static_assert(sizeof(mbarrier_word) == 8);

class mbarriers : public model {
 public:
  static constexpr model_id id = mbarrier_id;
  static constexpr int largest = (1 << 20) - 1;

  struct entry {
    std::uint32_t address = 0;
    std::uint64_t written = 0;
    std::uint32_t phases = 0;  // completed
    lane* maker = nullptr;
    bool fenced = false;
    edge edges[2];
    std::vector<lane*> parked;
  };

  void begin(block& b) override {
    for (int i = 0; i < used_; ++i) index_[slot_of(entries_[i]->address)] = 0;
    used_ = 0;
    index_.resize((b.of->memory.offset() + b.of->memory.bytes()) / 8 + 1);
  }
  entry* find(std::uint32_t address) const {
    int const i = index_[slot_of(address)];
    return i ? entries_[i - 1].get() : nullptr;
  }
  entry& add(std::uint32_t address) {
    if (used_ == static_cast<int>(entries_.size())) entries_.push_back(std::make_unique<entry>());
    entry& e = *entries_[used_++];
    e.address = address, e.phases = 0, e.fenced = false;
    for (edge& x : e.edges) x.fences.clear();
    e.parked.clear();
    index_[slot_of(address)] = static_cast<std::uint16_t>(used_);
    return e;
  }
  template <class F> void for_each(F f) {
    for (int i = 0; i < used_; ++i) f(*entries_[i]);
  }

 private:
  static std::size_t slot_of(std::uint32_t address) { return (address & offset_mask) / 8; }
  std::vector<std::unique_ptr<entry>> entries_;
  std::vector<std::uint16_t> index_;  // by offset / 8: 1 + place in entries_
  int used_ = 0;
};

// One barrier as an operation sees it; `l` is the lane to blame.
class mbarrier {
 public:
  mbarrier(lane& l, std::uint32_t address, location const& where)
      : lane_(l), where_(where), team_(own_team(l)), address_(address) {
    if (address % 8 != 0 || !team_.memory.holds(address, 8))
      refuse("not eight aligned bytes of shared memory");
    block_ = team_.blocks[address >> rank_shift].get();
    word_ = reinterpret_cast<std::uint64_t*>(team_.memory.window() + address);
  }
  void init(int count) {
    auto& all = model_of<mbarriers>(*block_);
    if (count < 1 || count > mbarriers::largest)
      refuse("for " + std::to_string(count) + " arrivals: 1 to 1048575");
    if (all.find(address_)) refuse("initialised twice");
    entry_ = &all.add(address_);
    entry_->maker = &lane_;
    mbarrier_word w{};
    w.count = w.pending = static_cast<unsigned>(count);
    put(w);
  }
  // From here on the barrier is known to exist.
  mbarrier& known() {
    entry_ = model_of<mbarriers>(*block_).find(address_);
    if (!entry_) refuse("never initialised");
    if (__atomic_load_n(word_, __ATOMIC_RELAXED) != entry_->written)
      refuse("overwritten by a store");
    return *this;
  }
  mbarrier& visible_elsewhere() {
    if (!entry_->fenced)
      refuse("used by another unit or block without a fence after its initialisation");
    return *this;
  }
  void expect(std::int64_t bytes) {
    mbarrier_word w = get();
    if (w.bytes + bytes > mbarriers::largest || w.bytes + bytes < -mbarriers::largest)
      refuse("expects " + std::to_string(w.bytes + bytes) + " bytes: at most 1048575");
    w.bytes = w.bytes + bytes;
    settle(w);
  }
  void arrive() {
    mbarrier_word w = get();
    if (w.pending == 0)
      refuse("too many arrivals: its " + std::to_string(w.count) + " have come, and " +
             std::to_string(w.bytes) + " bytes are still to come");
    w.pending = w.pending - 1;
    settle(w);
  }
  bool passed(int parity) const { return get().phase != static_cast<unsigned>(parity); }
  mbarriers::entry& entry() { return *entry_; }
  block& home() { return *block_; }
  edge& edge_of(int parity) { return entry_->edges[parity & 1]; }
  edge& edge_now() { return edge_of(static_cast<int>(get().phase)); }
  std::string state() const {
    mbarrier_word const w = get();
    return "mbarrier " + hex(address_) + " in phase " + std::to_string(entry_->phases) + ": " +
           std::to_string(w.pending) + " of " + std::to_string(w.count) + " arrivals and " +
           std::to_string(w.bytes) + " bytes to come";
  }
  [[noreturn]] void refuse(std::string const& why) const {
    fail_for(lane_, "mbarrier " + hex(address_) + ": " + why, where_);
  }

 private:
  mbarrier_word get() const { return std::bit_cast<mbarrier_word>(entry_->written); }
  void put(mbarrier_word w) {
    entry_->written = std::bit_cast<std::uint64_t>(w);
    __atomic_store_n(word_, entry_->written, __ATOMIC_RELAXED);
  }
  void settle(mbarrier_word w) {
    if (w.pending != 0 || w.bytes != 0) return put(w);
    w.phase ^= 1, w.pending = w.count;
    put(w);
    ++entry_->phases;
    for (lane* const l : entry_->parked) wake(*l);
    entry_->parked.clear();
  }

  lane& lane_;
  location where_;
  team& team_;
  block* block_ = nullptr;
  mbarriers::entry* entry_ = nullptr;
  std::uint64_t* word_ = nullptr;
  std::uint32_t address_;
};

// Plain accesses, so that ThreadSanitizer reports a use that nothing orders after the
// initialisation.
inline void look_at_mbarrier(std::uint32_t address, bool init = false) {
  if (!sanitizer::sees_races || !own_team(self()).memory.holds(address, 8)) return;
  if (init) sanitizer::writes(shared_pointer<void>(address), 8);
  else sanitizer::reads(shared_pointer<void>(address), 8);
}

inline void mbarrier_init(std::uint32_t address, int count, location where = location::current()) {
  look_at_mbarrier(address, true);
  sanitizer::quiet const q;
  mbarrier(self(), address, where).init(count);
}
inline void mbarrier_init_fence() {
  sanitizer::quiet const q;
  lane& me = self();
  model_of<mbarriers>(own_block(me)).for_each([&](mbarriers::entry& e) {
    if (e.maker == &me) e.fenced = true;
  });
}
inline void mbarrier_expect(std::uint32_t address, std::int64_t bytes,
                            location where = location::current()) {
  look_at_mbarrier(address);
  sanitizer::quiet const q;
  mbarrier(self(), address, where).known().expect(bytes);
}
// `address` may be in the memory of another block of the cluster.
inline void mbarrier_arrive(std::uint32_t address, location where = location::current()) {
  look_at_mbarrier(address);
  sanitizer::quiet const q;
  lane& me = self();
  mbarrier bar(me, address, where);
  bar.known();
  if (&bar.home() != &own_block(me)) bar.visible_elsewhere();
  if (bar.home().live == 0) bar.refuse("its block has ended");
  publish(me, bar.edge_now());
  bar.arrive();
  yield(me);
}

// x to the memory of a block of the cluster, of whose barrier it completes four bytes.
inline void store_async(std::uint32_t address, float x, std::uint32_t barrier,
                        location where = location::current()) {
  if (address % 4 != 0 || !own_team(self()).memory.holds(address, 4) ||
      (address ^ barrier) >> rank_shift)
    fail("asynchronous store: not four aligned bytes of its barrier's block", where);
  *shared_pointer<float>(address) = x;
  look_at_mbarrier(barrier);
  sanitizer::quiet const q;
  lane& me = self();
  mbarrier bar(me, barrier, where);
  if (&bar.known().home() != &own_block(me)) bar.visible_elsewhere();
  if (bar.home().live == 0) bar.refuse("its block has ended");
  publish(me, bar.edge_now());
  bar.expect(-4);
  yield(me);
}

// Whether the phase of this parity has completed.
inline bool mbarrier_test(std::uint32_t address, int parity, location where = location::current()) {
  look_at_mbarrier(address);
  sanitizer::quiet const q;
  lane& me = self();
  mbarrier bar(me, address, where);
  if (&bar.known().home() != &own_block(me)) bar.refuse("awaited from another block");
  bool const passed = bar.passed(parity);
  if (passed) observe(me, bar.edge_of(parity));
  yield(me);
  return passed;
}

inline std::string state_of_mbarrier(lane const& l, std::uint64_t address) {
  return mbarrier(const_cast<lane&>(l), static_cast<std::uint32_t>(address), l.wait.where)
      .known()
      .state();
}
// Until the phase of this parity has completed.
inline void mbarrier_wait(std::uint32_t address, int parity, location where = location::current()) {
  look_at_mbarrier(address);
  sanitizer::quiet const q;
  lane& me = self();
  mbarrier bar(me, address, where);
  if (&bar.known().home() != &own_block(me)) bar.refuse("awaited from another block");
  if (parity != 0 && parity != 1) bar.refuse("parity " + std::to_string(parity));
  if (!bar.passed(parity)) {
    std::uint32_t const before = bar.entry().phases;
    bar.entry().parked.push_back(&me);
    park(me, {"wait for mbarrier", where, state_of_mbarrier, address});
    if (bar.known().entry().phases != before + 1)
      bar.refuse("went a phase further while a lane waited for the one before");
  }
  observe(me, bar.edge_of(parity));
}

}  // namespace tk::emulator
