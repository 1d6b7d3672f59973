// SPDX-License-Identifier: MIT
// Runs a grid. Each OS thread takes one team after another; a further team is begun before its time
// only when all those begun wait for memory that another may change, or at random. What can never
// go on is a deadlock: at once where nobody polls, else after all OS threads found nothing for a
// second.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "backends/emulator/team.hpp"

namespace tk::emulator {

inline std::uint64_t from_environment(char const* name, std::uint64_t otherwise) {
  char const* const s = std::getenv(name);
  return s && *s ? std::strtoull(s, nullptr, 0) : otherwise;
}
inline int multiprocessors() {
  return static_cast<int>(from_environment("TK_EMULATE_MULTIPROCESSORS", 4));
}
// More lanes than its multiprocessors have room for are not begun: stacks are few
// (vm.max_map_count).
inline constexpr int lanes_of_multiprocessor = 1024;

struct settings {
  std::uint64_t seed = from_environment("TK_EMULATE_SEED", 0);
  int os_threads = static_cast<int>(
      from_environment("TK_EMULATE_THREADS", std::max(1u, std::thread::hardware_concurrency())));
};

struct grid {
  task what;
  int teams = 0;
  int room = 0;  // for this many teams at once
  std::atomic<int> next{0}, resident{0}, working{0}, idle{0};
  std::atomic<std::uint64_t> steps{0};  // counts what may let an idle OS thread go on
  std::atomic<bool> failed{false};
  std::mutex guard;
  std::exception_ptr error;

  void fail(std::exception_ptr e) {
    std::lock_guard const lock(guard);
    if (!failed.exchange(true)) error = std::move(e);
  }
};

// Teams at rest, for the next launch: those with the most lanes go first, so that few have many.
class team_shelf {
 public:
  std::unique_ptr<team> take() {
    std::lock_guard const lock(guard_);
    if (teams_.empty()) return std::make_unique<team>();
    auto t = std::move(teams_.back());
    teams_.pop_back();
    return t;
  }
  void put(std::unique_ptr<team> t) {
    std::lock_guard const lock(guard_);
    auto const fewer = [](auto const& a, auto const& b) { return a->pool.size() < b->pool.size(); };
    teams_.insert(std::upper_bound(teams_.begin(), teams_.end(), t, fewer), std::move(t));
  }
  static team_shelf& of_process() {
    static team_shelf shelf;
    return shelf;
  }

 private:
  std::mutex guard_;
  std::vector<std::unique_ptr<team>> teams_;
};

// One OS thread's share of a grid.
class crew {
 public:
  explicit crew(grid& g) : grid_(g), random_(g.what.seed != 0) { adopt_own_stack(home_); }
  ~crew() {
    for (auto& t : running_) abandon_team(*t);
  }
  void run() {
    try {
      while (!grid_.failed) {
        if (team* const t = choose()) {
          run_team(*t);
          look_after(*t);
        } else if (running_.empty()) {
          break;
        } else {
          await_others();
        }
      }
    } catch (...) { grid_.fail(std::current_exception()); }
    --grid_.working;
    ++grid_.steps;
  }

 private:
  static constexpr int rounds_without_change = 64;

  team* begin_next() {
    if (!running_.empty() && grid_.resident >= grid_.room) return nullptr;
    int const number = grid_.next.fetch_add(1);
    if (number >= grid_.teams) return nullptr;
    ++grid_.resident;
    running_.push_back(team_shelf::of_process().take());
    begin_team(*running_.back(), grid_.what, number, home_);
    for (auto& t : running_) t->has_company = running_.size() > 1;
    step();
    return running_.back().get();
  }
  void step() {
    rounds_ = 0;
    ++grid_.steps;
  }
  // A team that can go on, or null.
  team* choose() {
    if (random_)
      while (running_.size() < 3 && begin_next()) {}
    for (;;) {
      std::size_t const n = running_.size(), first = random_ && n ? running_[0]->draw(n) : 0;
      for (std::size_t i = 0; i < n; ++i)
        if (can_go_on(*running_[(first + i) % n])) return running_[(first + i) % n].get();
      if (!wake_changed()) break;
    }
    for (auto& t : running_)
      if (t->polling == 0) report_deadlock();
    if (team* const t = begin_next()) return t;
    if (running_.empty() || rounds_ == rounds_without_change) return nullptr;
    ++rounds_;
    for (auto& t : running_) wake_pollers(*t, true);
    return running_[static_cast<std::size_t>(rounds_) % running_.size()].get();
  }
  bool wake_changed() {
    bool any = false;
    for (auto& t : running_) any |= wake_pollers(*t, false);
    if (any) step();
    return any;
  }
  void look_after(team& t) {
    if (t.thrown) std::rethrow_exception(t.thrown);
    if (t.live > 0) return;
    end_team(t);
    --grid_.resident;
    auto const it = std::find_if(running_.begin(), running_.end(),
                                 [&](auto const& x) { return x.get() == &t; });
    team_shelf::of_process().put(std::move(*it));
    running_.erase(it);
    for (auto& other : running_) other->has_company = running_.size() > 1;
    step();
  }
  // Until another OS thread has changed what a lane polls; throws where none ever will.
  void await_others() {
    using clock = std::chrono::steady_clock;
    ++grid_.idle;
    std::uint64_t seen = grid_.steps;
    auto since = clock::now();
    while (!grid_.failed && !wake_changed()) {
      bool const all_idle = grid_.idle == grid_.working && grid_.steps == seen;
      if (!all_idle) seen = grid_.steps, since = clock::now();
      if (grid_.working == 1 || clock::now() - since > std::chrono::seconds(1)) report_deadlock();
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    --grid_.idle;
  }
  [[noreturn]] void report_deadlock() {
    std::string report;
    for (auto& t : running_) report += (report.empty() ? "" : "\n") + deadlock_report(*t);
    throw tk::error(status::runtime_error, report);
  }

  grid& grid_;
  bool random_;
  fiber home_;
  int rounds_ = 0;
  std::vector<std::unique_ptr<team>> running_;
};

inline void check_shape(shape const& form) {
  auto const refuse = [](std::string const& sentence) {
    throw error(status::runtime_error, "emulated device: " + sentence);
  };
  if (form.warp_lanes != 32 && form.warp_lanes != 64)
    refuse("warps have 32 or 64 lanes, not " + std::to_string(form.warp_lanes));
  if (form.threads <= 0 || form.threads > 1024 || form.threads % form.warp_lanes != 0)
    refuse("a block of " + std::to_string(form.threads) + " threads: whole warps, at most 1024");
  if (form.cluster <= 0 || form.cluster > 16 || form.blocks % form.cluster != 0)
    refuse(std::to_string(form.blocks) + " blocks in clusters of " + std::to_string(form.cluster) +
           ": whole clusters of at most 16");
  if (form.smem_offset < 1024 || form.smem_offset + form.smem_bytes > offset_mask / 2)
    refuse(std::to_string(form.smem_bytes) + " bytes of shared memory: too many");
}

template <class F> void launch(shape const& form, settings const& how, F const& body) {
  if (form.blocks == 0) return;
  check_shape(form);
  grid g;
  g.what = {form, [](void const* closure) { (*static_cast<F const*>(closure))(); }, &body, how.seed,
            &g};
  g.teams = form.blocks / form.cluster;
  g.room = multiprocessors() * lanes_of_multiprocessor / (form.threads * form.cluster);
  int const count = std::max(1, std::min(how.os_threads, g.teams));
  g.working = count;
  {
    sanitizer::quiet const q;
    std::vector<std::thread> others;
    for (int i = 1; i < count; ++i)
      others.emplace_back([&g] {
        sanitizer::quiet const also;
        crew(g).run();
      });
    crew(g).run();
    for (auto& t : others) t.join();
  }
  sanitizer::observe(&g);
  if (g.error) std::rethrow_exception(g.error);
}
template <class F>
void launch(int blocks, int threads, int warp_lanes, int cluster, std::size_t smem_bytes,
            F const& body) {
  shape form;
  form.blocks = blocks, form.threads = threads, form.warp_lanes = warp_lanes;
  form.cluster = cluster, form.smem_bytes = smem_bytes;
  launch(form, settings{}, body);
}

}  // namespace tk::emulator
