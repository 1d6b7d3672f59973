// SPDX-License-Identifier: MIT
// cp.async (PTX ISA 9.7.9.25.3): copies of 4, 8 or 16 bytes from global to shared memory by one
// lane. From issue to completion the destination is nobody's and holds NaN. A lane's copies
// complete when it waits for them or for their group, or, as late as they can, before the arrival
// at an mbarrier that tracks them (cp.async.mbarrier.arrive.noinc).
#pragma once
#include <algorithm>

#include "backends/emulator/mbarrier.hpp"

namespace tk::emulator {

struct lane_copy {
  std::uint32_t to;
  char const* from;
  int bytes, inside;  // the rest becomes zero
};
// What one lane has issued since it last told a barrier or committed a group.
struct copy_batch {
  std::vector<lane_copy> copies;
  bool done = false;
};

class async_copies : public model {
 public:
  static constexpr model_id id = copy_id;
  struct of_lane {
    std::shared_ptr<copy_batch> open;
    std::vector<std::shared_ptr<copy_batch>> told;    // a barrier that it has not reached yet
    std::vector<std::shared_ptr<copy_batch>> groups;  // in order; null if empty
    location last;
    char order = 0;  // what the lane did before it told a barrier
  };
  void begin(block& b) override {
    lanes_.clear();
    lanes_.resize(static_cast<std::size_t>(b.threads));
  }
  void lane_ends(lane& l) override {
    auto const& mine = of(l);
    bool const waits =
        std::ranges::all_of(mine.groups, [](auto const& g) { return !g || g->done; });
    if (mine.open || !waits) fail_for(l, "a lane ended without waiting for its copies", of(l).last);
  }
  of_lane& of(lane const& l) { return lanes_[static_cast<std::size_t>(l.thread)]; }

  static void complete(team& t, copy_batch& batch) {
    if (batch.done) return;
    batch.done = true;
    for (auto const& c : batch.copies) {
      char* const to = t.memory.window() + c.to;
      std::memcpy(to, c.from, static_cast<std::size_t>(c.inside));
      std::memset(to + c.inside, 0, static_cast<std::size_t>(c.bytes - c.inside));
    }
  }

 private:
  std::vector<of_lane> lanes_;
};

inline void copy_async(std::uint32_t to, void const* from, int bytes, int inside,
                       location where = location::current()) {
  sanitizer::quiet const q;
  lane& me = self();
  auto const n = static_cast<unsigned>(bytes);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || to % n != 0 ||
      reinterpret_cast<std::uintptr_t>(from) % n != 0 || inside < 0 || inside > bytes)
    fail("cp.async of " + std::to_string(inside) + " of " + std::to_string(bytes) + " bytes to " +
             hex(to) + " from " + hex(reinterpret_cast<std::uintptr_t>(from)) +
             ": 4, 8 or 16 bytes at multiples of as many",
         where);
  if (!own_team(me).memory.holds(to, n)) fail("cp.async to " + hex(to) + ": not there", where);
  auto& mine = model_of<async_copies>(own_block(me)).of(me);
  if (!mine.open) mine.open = std::make_shared<copy_batch>();
  mine.last = where;
  mine.open->copies.push_back({to, static_cast<char const*>(from), bytes, inside});
  std::memset(own_team(me).memory.window() + to, 0xff, n);
}
inline void copy_commit() {
  sanitizer::quiet const q;
  auto& mine = model_of<async_copies>(own_block(self())).of(self());
  mine.groups.push_back(std::move(mine.open));
  mine.open = nullptr;
}
// Completes what `take` moves from this lane's batches to its argument.
template <class Take> void complete_own(Take take) {
  lane& me = self();
  std::vector<std::shared_ptr<copy_batch>> batches;
  {
    sanitizer::quiet const q;
    take(model_of<async_copies>(own_block(me)).of(me), batches);
  }
  for (auto const& b : batches)
    if (b) async_copies::complete(own_team(me), *b);
  sanitizer::publish(&model_of<async_copies>(own_block(me)).of(me).order);
}
inline void copy_wait_all() {
  complete_own([](auto& mine, auto& batches) {
    batches = std::move(mine.told);
    mine.told.clear();
    batches.insert(batches.end(), mine.groups.begin(), mine.groups.end());
    mine.groups.clear();
    if (mine.open) batches.push_back(std::move(mine.open));
    mine.open = nullptr;
  });
}
// All groups but the latest `left`.
inline void copy_wait_group(std::size_t left) {
  complete_own([left](auto& mine, auto& batches) {
    if (mine.groups.size() <= left) return;
    auto const end = mine.groups.end() - static_cast<std::ptrdiff_t>(left);
    batches.assign(mine.groups.begin(), end);
    mine.groups.erase(mine.groups.begin(), end);
  });
}

// The arrivals of one warp's lanes, each after its copies.
class arrival_job : public job {
 public:
  arrival_job(std::uint32_t bar, lane& l, location const& here) : job(load, here, &l), bar_(bar) {}
  void add(lane& l) {
    auto& mine = model_of<async_copies>(own_block(l)).of(l);
    lanes_.push_back(&mine);
    std::erase_if(mine.told, [](auto const& b) { return b->done; });
    if (!mine.open) mine.open = std::make_shared<copy_batch>();
    mine.told.push_back(mine.open);
    batches_.push_back(std::move(mine.open));
    mine.open = nullptr;
  }
  void run() override {
    team& t = own_team(*issuer);
    mbarrier bar(*issuer, bar_, where);
    void* const order = &bar.known().edge_now().order;
    std::vector<sanitizer::range> reads, writes;
    for (auto const& b : batches_) {
      if (sanitizer::sees_races && !b->done)
        for (auto const& c : b->copies) {
          if (c.inside)
            reads.push_back({const_cast<char*>(c.from), static_cast<std::size_t>(c.inside)});
          writes.push_back({t.memory.window() + c.to, static_cast<std::size_t>(c.bytes)});
        }
      async_copies::complete(t, *b);
    }
    if (sanitizer::sees_races) {
      void* const engine = t.copy_engine();
      for (auto* const l : lanes_) sanitizer::access(engine, &l->order, {}, 0, {}, 0, {});
      sanitizer::access(engine, nullptr, reads.data(), reads.size(), writes.data(), writes.size(),
                        order);
    }
    for (std::size_t i = 0; i < batches_.size(); ++i) bar.arrive();
  }

 private:
  std::uint32_t bar_;
  std::vector<std::shared_ptr<copy_batch>> batches_;
  std::vector<async_copies::of_lane*> lanes_;
};

// All lanes of a warp, each for its own copies.
inline void copy_arrive(std::uint32_t bar, location where = location::current()) {
  look_at_mbarrier(bar);
  std::uint32_t mine = bar;
  lane& me = self();
  sanitizer::publish(&model_of<async_copies>(own_block(me)).of(me).order);
  collective(
      mine,
      [&](std::uint32_t* const* lanes) {
        auto j = std::make_unique<arrival_job>(bar, me, where);
        for (int l = 0; l < me.of->size; ++l) {
          if (*lanes[l] != bar) fail("cp.async.mbarrier.arrive: lanes differ in barrier", where);
          j->add(me.of->lanes[l]);
        }
        add_job(own_team(me), std::move(j));
      },
      "cp.async.mbarrier.arrive", where);
}

}  // namespace tk::emulator
