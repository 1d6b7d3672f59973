// SPDX-License-Identifier: MIT
// What kernels of the block template have whose tasks are each one worker's, who loads for itself;
// eight of them share a multiprocessor.
#pragma once
#include "core/block.hpp"

namespace tk {

struct lone_worker {
  static constexpr int workers = 1, per_unit = 8, cluster = 1, stages = 1, own_slots = 1;
  struct stage {};
  struct own {};
  template <class Args> static TK_BOTH int workers_of(Args const&) { return workers; }
  template <class Args, class Task>
  static TK_DEVICE void load(stage&, Args const&, Task const&, int, be::arrival) {}
};

}  // namespace tk
