// SPDX-License-Identifier: MIT
// setmaxnreg (PTX ISA 9.7.19.5): the warps of a warpgroup give registers up or take more, all four
// the same number, and the block's warps together have 64 K of them.
#pragma once
#include "backends/emulator/memory.hpp"

namespace tk::emulator {

class register_file : public model {
 public:
  static constexpr model_id id = register_id;
  static constexpr int size = 64 * 1024;

  void begin(block& b) override {
    per_lane_.assign(static_cast<std::size_t>(b.threads / 32), 0);
    said_.assign(per_lane_.size(), location{});
  }
  void set(lane& l, int count, location const& where) {
    if (count < 24 || count > 256 || count % 8 != 0)
      fail("setmaxnreg " + std::to_string(count) + ": a multiple of 8 from 24 to 256", where);
    std::size_t const warp = static_cast<std::size_t>(l.thread / 32);
    per_lane_[warp] = count, said_[warp] = where;
    int total = 0;
    for (int const n : per_lane_) total += n * 32;
    if (total > size)
      fail("setmaxnreg " + std::to_string(count) + ": the block's warps would have " +
               std::to_string(total) + " registers of 65536",
           where);
  }
  void end(block& b) override {
    for (std::size_t w = 0; w < per_lane_.size(); ++w)
      if (per_lane_[w] != per_lane_[w / 4 * 4])
        fail_block(b, "setmaxnreg differs between the warps of warpgroup " + std::to_string(w / 4) +
                          ", set at " + text(said_[per_lane_[w] ? w : w / 4 * 4]));
  }

 private:
  std::vector<int> per_lane_;
  std::vector<location> said_;
};

inline void set_registers(int count, location where = location::current()) {
  int mine = count;
  collective(
      mine,
      [&](int* const*) { model_of<register_file>(own_block(self())).set(self(), count, where); },
      "setmaxnreg", where);
}

}  // namespace tk::emulator
