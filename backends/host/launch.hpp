// SPDX-License-Identifier: MIT
// Kernel arguments from tensors, and the run of a grid: over when launch returns.
#pragma once
#include "backends/host/block.hpp"
#include "backends/host/grid.hpp"
#include "backends/host/runtime.hpp"

namespace tk::be {

template <int R, int C, class T> source<T, R, C> read_from(tensor<T const> const& x) { return {x}; }
template <int R, int C, class T> sink<T, R, C> write_to(tensor<T> const& x) { return {x}; }

// A cluster's blocks run one after another.
template <class Op> int clusters_at_a_time(int) { return rt::multiprocessors(); }

template <class Op> void launch(typename Op::args const& a, void*) {
  int const tasks = Op::tasks(a);
  if (tasks == 0) return;
  grid::run(tasks, [&](auto& next) {
    auto const memory = std::make_unique_for_overwrite<block_memory<Op>>();
    fill_resident(*memory, a);
    for (int i = next(); i < tasks; i = next())
      for (int rank = 0; rank < Op::cluster; ++rank)
        run_task<Op>(*memory, a, Op::task_at(a, i, rank));
  });
}

}  // namespace tk::be
