// SPDX-License-Identifier: MIT
// The life of a lane and of a team. Lanes outlive the blocks that they play in: their fibers wait
// for the next block, perhaps on another OS thread, so nothing of an OS thread may be kept in
// registers from one life to the next. To ThreadSanitizer the blocks that play in one team, one
// after another, are ordered, because they share its memory; those of different teams are not.
#pragma once
#include <algorithm>

#include "backends/emulator/memory.hpp"

namespace tk::emulator {

inline void end_lane(lane& me) {
  block& b = own_block(me);
  for (auto& m : b.models)
    if (m) m->lane_ends(me);
  me.ended = true;
  std::uint64_t const bit = std::uint64_t{1} << me.index;
  me.of->live &= ~bit, me.of->ready &= ~bit;
  --b.live, --b.of->live;
  leave_barriers(me);
  if (b.live == 0)
    for (auto const& j : b.of->jobs)
      if ((j->order == job::load || j->order == job::product) && j->uses(b))
        fail_for(*j->issuer, "the block ended while this copy or product was running", j->where);
}
inline lane* live_and_end(lane& me) {
  team& t = own_team(me);
  try {
    t.doing.body(t.doing.closure);
    wait_later(0);
    sanitizer::quiet const q;
    end_lane(me);
    return pick(t);
  } catch (...) {
    sanitizer::quiet const q;
    t.thrown = std::current_exception();
    return nullptr;
  }
}
// Returns in the next life.
__attribute__((noinline)) TK_UNSANITIZED inline void live_once() {
  lane& me = self();
  team& t = own_team(me);
  sanitizer::observe(&t);
  sanitizer::observe(t.last_end());
  lane* const next = live_and_end(me);
  sanitizer::publish(t.this_end());
  sanitizer::publish(t.doing.finished);
  leave_for(me.context, t, next);
}
TK_UNSANITIZED inline void lane_main() {
  first_steps();
  for (;;) live_once();
}

inline void begin_block(team& t, block& b, int index, int rank, int first_warp) {
  shape const& form = t.doing.form;
  b.of = &t, b.index = index, b.rank = rank;
  b.warps = &t.warps[static_cast<std::size_t>(first_warp)];
  b.warp_count = form.threads / form.warp_lanes;
  b.threads = b.live = form.threads;
  b.ran = 0;
  b.shared = t.memory.at(rank) + form.smem_offset;
  for (barrier& x : b.barriers) x = barrier{};
  for (int i = 0; i < b.warp_count; ++i) {
    warp& w = b.warps[i];
    w = warp{};
    w.of = &b, w.index = first_warp + i, w.size = form.warp_lanes;
    w.lanes = t.pool.at(w.index * w.size, lane_main);
    w.live = w.ready = w.size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << w.size) - 1;
    for (int k = 0; k < w.size; ++k) {
      lane& l = w.lanes[k];
      l.of = &w, l.index = k, l.thread = i * w.size + k;
      l.ended = l.polling = false;
      l.polled = nullptr;
      l.barrier_generation.fill(0);
      l.later.clear();
      l.fences.clear();
    }
  }
  for (auto& m : b.models)
    if (m) m->begin(b);
}
inline void begin_team(team& t, task const& what, int number, fiber& home) {
  shape const& form = what.form;
  t.doing = what, t.home = &home;
  ++t.uses;
  // Launches of other shapes have other schedules.
  std::uint64_t const which = static_cast<std::uint64_t>(number) ^ form.smem_bytes << 20 ^
                              static_cast<std::uint64_t>(form.blocks) << 50;
  t.random = (what.seed ^ which) * 0x9e3779b97f4a7c15u + 1;
  t.memory.begin(form.cluster, form.smem_offset, form.smem_bytes);
  t.warps.resize(static_cast<std::size_t>(form.cluster * (form.threads / form.warp_lanes)));
  t.live = form.cluster * form.threads;
  t.polling = 0, t.fences = 0, t.last = nullptr, t.last_lane = 0, t.watcher = nullptr;
  t.down = t.draw(2) != 0;
  t.picks = 0, t.next_due = ~std::uint64_t{0}, t.held = {};
  t.cluster = barrier{};
  while (static_cast<int>(t.blocks.size()) < form.cluster)
    t.blocks.push_back(std::make_unique<block>());
  for (int r = 0; r < form.cluster; ++r)
    begin_block(t, *t.blocks[static_cast<std::size_t>(r)], number * form.cluster + r, r,
                r * (form.threads / form.warp_lanes));
  sanitizer::publish(&t);
}
inline void publish_engines(team& t) {
  for (void* e : t.engines)
    for (void* at : {t.this_end(), t.doing.finished})
      sanitizer::access(e, nullptr, nullptr, 0, nullptr, 0, at);
}
// Finishes what the hardware still does after the last lane has ended.
inline void end_team(team& t) {
  for (int r = 0; r < t.doing.form.cluster; ++r) {
    block& b = *t.blocks[static_cast<std::size_t>(r)];
    for (auto& m : b.models)
      if (m) m->end(b);
    if (std::ptrdiff_t const at = t.memory.damage(r); at >= 0)
      fail_block(b, "a store outside shared memory, at byte " +
                        std::to_string(at - static_cast<std::ptrdiff_t>(t.memory.offset())) +
                        " of " + std::to_string(t.memory.bytes()));
  }
  while (!t.jobs.empty()) run_job(t, 0);
  publish_engines(t);
}
// After a failure: publishes what its lanes did until they stopped.
inline void abandon_team(team& t) {
  for (warp& w : t.warps)
    for (int i = 0; i < w.size; ++i)
      sanitizer::access(w.lanes[i].context.thread, nullptr, nullptr, 0, nullptr, 0,
                        t.doing.finished);
  publish_engines(t);
}
// Lets lanes of a team run until none can.
TK_UNSANITIZED inline void run_team(team& t) {
  lane* first;
  {
    sanitizer::quiet const q;
    first = pick(t);
  }
  if (first) leave_for(*t.home, t, first);
}
// Wakes the lanes whose integer has changed, or all that poll.
inline bool wake_pollers(team& t, bool all) {
  bool any = false;
  if (t.polling > 0)
    for (warp& w : t.warps)
      for (int i = 0; i < w.size; ++i) {
        lane& l = w.lanes[i];
        if (!l.polling || (!all && read_integer(l.polled, l.polled_bytes) == l.polled_value))
          continue;
        l.polling = false;
        --t.polling;
        wake(l);
        any = true;
      }
  return any;
}
inline bool can_go_on(team const& t) {
  return std::any_of(t.warps.begin(), t.warps.end(), [](warp const& w) { return w.ready != 0; });
}

}  // namespace tk::emulator
