// SPDX-License-Identifier: MIT
// Ops whose workers load for themselves, in clusters: a cluster for each task (PTX ISA,
// "barrier.cluster").
#pragma once
#include "backends/sm_80/direct.hpp"
#include "backends/sm_90/company.hpp"

namespace tk::be {

template <direct_op Op>
TK_SHARING_KERNEL(Op::workers* worker_lanes, Op::per_unit)
run_direct_cluster(TK_ARGUMENT typename Op::args const a) {
  using company = block_company<Op::cluster>;
  auto& of_company = *reinterpret_cast<typename company::memory*>(ptx::dynamic_smem());
  auto& m = *reinterpret_cast<direct_memory<Op>*>(&of_company + 1);
  if (ptx::thread() == 0) {
    of_company.init();
    ptx::barrier_init_fence();
  }
  ptx::cluster_sync();  // all have begun
  worker const w{Op::workers > 1 ? ptx::broadcast(ptx::thread() / worker_lanes) : 0};
  direct_context<Op, company> c{w,  Op::workers_of(a),  m.scratch, m.scratch[w.id()],
                                {}, company(of_company)};
  Op::compute(c, a, Op::task_at(a, ptx::block() / Op::cluster, 0));
}

// What the blocks of a cluster have besides.
template <direct_op Op> constexpr int company_smem_bytes() {
  return Op::cluster > 1 ? static_cast<int>(sizeof(typename block_company<Op::cluster>::memory))
                         : 0;
}

}  // namespace tk::be
