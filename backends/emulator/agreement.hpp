// SPDX-License-Identifier: MIT
// What the hardware takes from one lane for its whole warp: all lanes must bring the same.
#pragma once
#include <array>
#include <deque>
#include <vector>

#include "backends/emulator/memory.hpp"

namespace tk::emulator {

// A lane's n-th value is held against that of the lane that came first to its n-th: lanes do not
// meet for it, which would order them.
class agreements : public model {
 public:
  static constexpr model_id id = agreement_id;
  void begin(block& b) override { warps_.assign(static_cast<std::size_t>(b.warp_count), {}); }
  // Whether it is the first lane's, too.
  bool bring(lane const& me, std::uint64_t value, location const& where) {
    auto& w = warps_[static_cast<std::size_t>(me.thread / me.of->size)];
    std::size_t const n = w.brought[static_cast<std::size_t>(me.index)]++ - w.forgotten;
    if (n == w.open.size()) w.open.push_back({value, where, 0});
    auto& x = w.open[n];
    bool const same = x.value == value && x.where.line() == where.line();
    if (++x.lanes == me.of->size) w.open.pop_front(), ++w.forgotten;
    return same;
  }

 private:
  struct brought_value {
    std::uint64_t value;
    location where;
    int lanes;  // that brought it
  };
  struct of_warp {
    std::deque<brought_value> open;  // which not all lanes have brought yet
    std::size_t forgotten = 0;
    std::array<std::size_t, 64> brought{};
  };
  std::vector<of_warp> warps_;
};

inline void agree(std::uint64_t value, char const* what, location where = location::current()) {
  sanitizer::quiet const q;
  lane& me = self();
  if (!model_of<agreements>(own_block(me)).bring(me, value, where))
    fail(std::string(what) + " is not the same in the whole warp", where);
}

}  // namespace tk::emulator
