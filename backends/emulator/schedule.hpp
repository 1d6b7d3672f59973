// SPDX-License-Identifier: MIT
// Which lane runs next. In turn, a lane runs until it must wait; then the next ready lane of its
// warp runs, then the next warp's, and when none is ready a job of the hardware. Each round over
// the warps goes up or down, by numbers that are the same in every run: where nothing orders a
// store and a load of two lanes, either comes first in some round. In a random schedule every
// call into the emulator may change lanes, jobs run at any time, and some lanes lag behind. When
// nothing can go on control returns to the OS thread's own stack (launch.hpp), which reports a
// deadlock or takes another team.
#pragma once
#include <algorithm>

#include "backends/emulator/report.hpp"

namespace tk::emulator {

inline void wake(lane& l) {
  if (!l.ended) l.of->ready |= std::uint64_t{1} << l.index;
}

inline void run_job(team& t, std::size_t i) {
  std::unique_ptr<job> const j = std::move(t.jobs[i]);
  t.jobs.erase(t.jobs.begin() + static_cast<std::ptrdiff_t>(i));
  j->run();
}
// At random it is due at once, or after far more than other lanes may do meanwhile, or in between.
inline void add_job(team& t, std::unique_ptr<job> j) {
  if (t.is_random()) {
    j->due = t.picks + (std::uint64_t{1} << t.draw(20));
    t.next_due = t.jobs.empty() ? j->due : std::min(t.next_due, j->due);
  }
  t.jobs.push_back(std::move(j));
}
inline void run_due_jobs(team& t) {
  for (std::size_t i = 0; i < t.jobs.size();)
    if (t.jobs[i]->due <= t.picks) run_job(t, i), i = 0;
    else ++i;
  t.next_due = ~std::uint64_t{0};
  for (auto const& j : t.jobs) t.next_due = std::min(t.next_due, j->due);
}
// The oldest of the most urgent kind among those that somebody wants.
inline bool run_wanted_job(team& t) {
  std::size_t best = t.jobs.size();
  for (std::size_t i = 0; i < t.jobs.size(); ++i)
    if (t.jobs[i]->wanted() && (best == t.jobs.size() || t.jobs[i]->order < t.jobs[best]->order))
      best = i;
  if (best == t.jobs.size()) return false;
  run_job(t, best);
  return true;
}

// The first of these lanes in the direction in which the round goes.
inline lane* first_of(warp const& w, std::uint64_t lanes, bool down) {
  if (!lanes) return nullptr;
  return w.lanes + (down ? 63 - __builtin_clzll(lanes) : __builtin_ctzll(lanes));
}
inline lane* later_in_warp(warp const& w, int than, bool down) {
  std::uint64_t const one = std::uint64_t{1} << than, before = one - 1;
  return first_of(w, w.ready & (down ? before : ~(one | before)), down);
}
// A round goes over the warps, up or down, and so do its lanes.
inline lane* next_in_turn(team& t) {
  std::ptrdiff_t const n = std::ssize(t.warps);
  std::ptrdiff_t at = t.down ? n - 1 : 0;
  if (t.last) {
    if (lane* const l = later_in_warp(*t.last, t.last_lane, t.down)) return l;
    at = t.last - t.warps.data() + (t.down ? -1 : 1);
  }
  for (int rounds = 0; rounds < 2; ++rounds) {
    for (; at >= 0 && at < n; at += t.down ? -1 : 1) {
      warp const& w = t.warps[static_cast<std::size_t>(at)];
      if (lane* const l = first_of(w, w.ready, t.down)) return l;
    }
    t.down = t.draw(2) != 0;
    at = t.down ? n - 1 : 0;
  }
  return nullptr;
}
// A lane, a warp or a block, or nobody, is held back for a while, so that others get far ahead.
inline void hold_back(team& t) {
  warp& w = t.warps[t.draw(t.warps.size())];
  std::uint64_t const until = t.picks + (std::uint64_t{1} << t.draw(16));
  switch (t.draw(4)) {
    case 0: t.held = {&w, 1, std::uint64_t{1} << t.draw(64), until}; break;
    case 1: t.held = {&w, 1, ~std::uint64_t{0}, until}; break;
    case 2: t.held = {w.of->warps, w.of->warp_count, ~std::uint64_t{0}, until}; break;
    default: t.held = {nullptr, 0, 0, until};
  }
}
inline lane* next_at_random(team& t) {
  if (t.picks >= t.held.until) hold_back(t);
  std::size_t const n = t.warps.size(), first = t.draw(n);
  lane* slow = nullptr;
  for (std::size_t i = 0; i < n; ++i) {
    warp& w = t.warps[(first + i) % n];
    if (!w.ready) continue;
    bool const held = &w >= t.held.first && &w < t.held.first + t.held.count;
    std::uint64_t const ready = held ? w.ready & ~t.held.lanes : w.ready;
    if (!ready) {
      slow = w.lanes + __builtin_ctzll(w.ready);
      continue;
    }
    unsigned const first = static_cast<unsigned>(t.draw(64));
    std::uint64_t const later = ready >> first << first;
    return w.lanes + __builtin_ctzll(later ? later : ready);
  }
  return slow;
}

inline lane* run_next(team& t, lane* l) {
  t.last = l->of, t.last_lane = l->index;
  block& b = *l->of->of;
  b.ran |= std::uint32_t{1} << (l->of - b.warps);
  return l;
}
// The lane to run now; null leaves it to the OS thread, which may take another team.
inline lane* pick(team& t) {
  if (t.watcher) {
    auto const first = [&] {
      return run_next(t, t.watched->lanes + __builtin_ctzll(t.watched->ready));
    };
    if (t.watched->ready) return first();
    model* const m = t.watcher;
    t.watcher = nullptr;
    m->warp_rests();
    if (t.watched->ready && !t.is_random()) return first();
  }
  for (;;) {
    if (t.is_random() && ++t.picks >= t.next_due) run_due_jobs(t);
    if (lane* const l = t.is_random() ? next_at_random(t) : next_in_turn(t)) {
      if (t.is_random() && t.has_company && t.draw(64) == 0) return nullptr;
      return run_next(t, l);
    }
    if (t.live == 0 || !run_wanted_job(t)) return nullptr;
  }
}

inline void go_on(lane& me) {
  team& t = own_team(me);
  lane* const next = pick(t);
  if (next != &me) leave_for(me.context, t, next);
}
// Until somebody wakes this lane.
inline void park(lane& me, waiting const& w) {
  me.wait = w;
  me.of->ready &= ~(std::uint64_t{1} << me.index);
  go_on(me);
}
// A random schedule may go on with another lane here.
inline void yield(lane& me) {
  team& t = own_team(me);
  if (t.is_random() && t.draw(4) == 0) go_on(me);
}

}  // namespace tk::emulator
