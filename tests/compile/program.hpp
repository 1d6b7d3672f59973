// SPDX-License-Identifier: MIT
// What the programs of this folder share: compile<Body>() compiles all that a launch of an op does
// whose workers run `Body{}(context)`. Shapes are in units of the rows a worker holds, so that they
// are right, or wrong, on every chip.
#pragma once
#include "backends/kernel.hpp"
#include "core/product.hpp"

namespace tk::test {

template <class Body> struct program {
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1;
  struct stage {};
  struct own {};
  struct scratch {};
  struct args {};
  struct task {
    int steps;
  };
  static TK_BOTH int tasks(args const&) { return 1; }
  static TK_BOTH task task_at(args const&, int, int) { return {0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  static TK_DEVICE void load_own(own&, args const&, task const&, int, be::arrival) {}
  template <class Context> static TK_DEVICE void compute(Context& c, args const&, task const&) {
    Body{}(c);
  }
};

template <class Body> void compile() { be::launch<program<Body>>({}, nullptr); }

inline constexpr int R = be::worker_rows;
template <int C> using tile = reg_tile<float, R, C>;
template <int C> using packed = reg_tile<bf16, R, C>;

}  // namespace tk::test
