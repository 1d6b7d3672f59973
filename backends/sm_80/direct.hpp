// SPDX-License-Identifier: MIT
// Ops whose workers load for themselves (core/block.hpp, direct_op): a block for each task, as many
// on a multiprocessor at a time as Op::per_unit. While one waits for memory, others compute.
#pragma once
#include "backends/sm_80/barriers.hpp"
#include "core/block.hpp"

namespace tk::be {

// All workers of a block.
struct block_meeting {
  TK_DEVICE static void arrive() {}
  TK_DEVICE static void await() { ptx::sync_block(); }
};
template <direct_op Op, class Company = no_memory> struct direct_context {
  worker w;
  int workers;
  typename Op::scratch (&scratches)[Op::workers];
  typename Op::scratch& scratch;
  block_meeting all;
  Company blocks;
};
// As many as the block has.
template <direct_op Op> struct direct_memory {
  typename Op::scratch scratch[Op::workers];
};
// Dynamic shared memory may begin at a multiple of 16 alone.
template <direct_op Op> int direct_smem_bytes(int workers) {
  static_assert(alignof(typename Op::scratch) <= 16);
  // What more a kernel may have is asked of CUDA for all its launches, which need not be alike.
  static_assert(sizeof(direct_memory<Op>) <= 48 * 1024, "the op's tiles exceed a direct block's");
  static_assert(Op::per_unit * (sizeof(direct_memory<Op>) + reserved_smem_bytes) <=
                    smem_bytes + reserved_smem_bytes,
                "per_unit blocks exceed a multiprocessor's shared memory");
  return workers * static_cast<int>(sizeof(typename Op::scratch));
}

template <direct_op Op>
TK_SHARING_KERNEL(Op::workers* worker_lanes, Op::per_unit)
run_direct(TK_ARGUMENT typename Op::args const a) {
  auto& m = *reinterpret_cast<direct_memory<Op>*>(ptx::dynamic_smem());
  worker const w{Op::workers > 1 ? ptx::broadcast(ptx::thread() / worker_lanes) : 0};
  direct_context<Op> c{w, Op::workers_of(a), m.scratch, m.scratch[w.id()], {}, {}};
  Op::compute(c, a, Op::task_at(a, ptx::block(), 0));
}

}  // namespace tk::be
