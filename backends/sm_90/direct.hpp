// SPDX-License-Identifier: MIT
// Ops whose workers load for themselves, in clusters: a cluster for each task (PTX ISA, "barrier
// .cluster", "mapa").
#pragma once
#include "backends/sm_80/direct.hpp"
#include "backends/sm_90/intrinsics.hpp"

namespace tk::be {

// The blocks of a cluster.
template <int Count> struct block_company {
  static constexpr int count = Count;
  TK_DEVICE static int rank() { return ptx::cluster_rank(); }
  // Each block has the same places; what is put is there when all have met.
  TK_DEVICE static void put(int block, float& place, float x) {
    ptx::store_at(ptx::smem(&place), block, x);
  }
  TK_DEVICE static void meet() { ptx::cluster_sync(); }
};

template <direct_op Op>
TK_SHARING_KERNEL(Op::workers* worker_lanes, Op::per_unit)
run_direct_cluster(TK_ARGUMENT typename Op::args const a) {
  auto& m = *reinterpret_cast<direct_memory<Op>*>(ptx::dynamic_smem());
  worker const w{Op::workers > 1 ? ptx::broadcast(ptx::thread() / worker_lanes) : 0};
  using company = block_company<Op::cluster>;
  direct_context<Op, company> c{w, Op::workers_of(a), m.scratch, m.scratch[w.id()], {}, {}};
  company::meet();  // all have begun, and have memory
  Op::compute(c, a, Op::task_at(a, ptx::block() / Op::cluster, 0));
}

}  // namespace tk::be
