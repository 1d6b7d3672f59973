// SPDX-License-Identifier: MIT
// Host side: kernel arguments from tensors, and the launch of a persistent grid.
#pragma once
#include <algorithm>

#include "backends/hip/block.hpp"

#include TK_VENDOR(runtime.hpp)

namespace tk::be {

template <class T> view<T> view_of(tensor<T> const& x) {
  constexpr std::int64_t size = sizeof(T),
                         most_bytes = 1 << 24;  // a panel's rows within 2^31 bytes
  bool const whole_words = vector_width_of(x) * size >= 4;
  std::int64_t const row_bytes = x.rows > 1 ? x.row_stride * size : 16;  // one row: any will do
  bool const near = row_bytes >= 0 && row_bytes <= most_bytes;
  return {x.data,
          x.row_stride,
          x.n0 > 1 ? x.stride0 : 0,
          x.n1 > 1 ? x.stride1 : 0,
          static_cast<int>(x.rows),
          static_cast<int>(x.cols),
          vector_width_of(x),
          whole_words && near ? static_cast<std::uint32_t>(row_bytes) : 0};
}
template <int R, int C, class T> source<T, R, C> read_from(tensor<T const> const& x) {
  return {view_of(x)};
}
template <int R, int C, class T> sink<T, R, C> write_to(tensor<T> const& x) { return {view_of(x)}; }

// Of clusters of one block.
template <class Op> int clusters_at_a_time(int) { return rt::multiprocessors(); }

template <class Op> void launch(typename Op::args const& a, void* stream) {
  static_assert(sizeof(block_memory<Op>) <= smem_bytes,
                "the op's tiles exceed a block's shared memory");
  int const tasks = Op::tasks(a);
  if (tasks == 0) return;
  rt::require_chip();
  int const blocks = std::min(tasks, rt::multiprocessors());
  static_assert(block_threads<Op> <= 1024, "a block has up to 16 workers");
  rt::launch(run_block<Op>, {blocks, block_threads<Op>, sizeof(block_memory<Op>), stream}, a,
             blocks);
}

}  // namespace tk::be
