// SPDX-License-Identifier: MIT
// Host side: kernel arguments from tensors, and the launch of a grid.
#pragma once
#include <algorithm>

#include "backends/sm_80/block.hpp"
#include "backends/sm_80/direct.hpp"

#include TK_VENDOR(runtime.hpp)

namespace tk::be {

template <class T> view<T> view_of(tensor<T> const& x) {
  return {x.data,
          x.row_stride,
          x.stride0,
          x.stride1,
          static_cast<int>(x.rows),
          static_cast<int>(x.cols),
          vector_width_of(x)};
}
template <int R, int C, class T> source<T, R, C> read_from(tensor<T const> const& x) {
  return {view_of(x)};
}
template <int R, int C, class T> sink<T, R, C> write_to(tensor<T> const& x) { return {view_of(x)}; }

// Of clusters of one block.
template <class Op> int clusters_at_a_time(int) { return rt::multiprocessors(); }

template <class Op> void launch(typename Op::args const& a, void* stream) {
  int const tasks = Op::tasks(a);
  if (tasks == 0) return;
  rt::require_chip();
  if constexpr (direct_op<Op>) {
    int const workers = Op::workers_of(a);
    auto const smem = static_cast<std::size_t>(direct_smem_bytes<Op>(workers));
    rt::launch(run_direct<Op>, {tasks, workers * worker_lanes, smem, stream}, a);
  } else {
    constexpr int abreast = blocks_per_unit<Op>();
    static_assert(
        abreast * (block_smem_bytes<Op> + reserved_smem_bytes) <= smem_bytes + reserved_smem_bytes,
        "the op's tiles exceed a block's shared memory");
    static_assert(block_threads<Op> <= 1024, "a block has up to 8 workers");
    int const blocks = std::min(tasks, rt::multiprocessors() * abreast);
    rt::launch(run_block<Op>, {blocks, block_threads<Op>, block_smem_bytes<Op>, stream}, a);
  }
}

}  // namespace tk::be
