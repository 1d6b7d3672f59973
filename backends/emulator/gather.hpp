// SPDX-License-Identifier: MIT
// Brings together what lanes hold, for debugging words. The n-th call of a lane goes with the n-th
// call of the other lanes of its group; nobody waits and nothing is ordered, so that a schedule, or
// a race, is the same with and without it.
#pragma once
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "backends/emulator/schedule.hpp"

namespace tk::emulator {

class gatherings : public model {
 public:
  static constexpr model_id id = gather_id;
  void begin(block&) override { groups_.clear(); }
  void end(block& b) override {
    for (auto const& [number, g] : groups_)
      if (!g.open.empty())
        fail_block(b, g.open[0].title + "\n  was given by " + std::to_string(g.open[0].came) +
                          " lanes; all " + std::to_string(g.brought.size()) +
                          " of the worker must call");
  }
  // Whether this lane, one of `lanes` in a row, is the last to come; then `all` has every value.
  bool bring(lane const& me, int lanes, std::string const& title,
             std::vector<std::pair<int, float>> const& mine, std::vector<float>& all,
             location const& where) {
    group& g = groups_[me.thread / lanes];
    g.brought.resize(static_cast<std::size_t>(lanes));
    std::size_t const n = g.brought[static_cast<std::size_t>(me.thread % lanes)]++ - g.forgotten;
    if (n == g.open.size()) g.open.push_back({title, all, 0});
    gathering& x = g.open[n];
    if (x.title != title)
      fail("this lane gives\n  " + title + "\nwhere another lane gave\n  " + x.title, where);
    for (auto const& [index, value] : mine) x.values[static_cast<std::size_t>(index)] = value;
    if (++x.came < lanes) return false;
    all = std::move(x.values);
    g.open.pop_front(), ++g.forgotten;
    return true;
  }

 private:
  struct gathering {
    std::string title;
    std::vector<float> values;
    int came;
  };
  struct group {
    std::deque<gathering> open;  // which not all lanes have brought yet
    std::size_t forgotten = 0;
    std::vector<std::size_t> brought;  // by each lane
  };
  std::map<int, group> groups_;
};

// Values of one lane by their index in `all`, of a group of `lanes` lanes with consecutive numbers.
inline bool gather(int lanes, std::string const& title,
                   std::vector<std::pair<int, float>> const& mine, std::vector<float>& all,
                   location where) {
  sanitizer::quiet const q;
  lane& me = self();
  return model_of<gatherings>(own_block(me)).bring(me, lanes, title, mine, all, where);
}

}  // namespace tk::emulator
