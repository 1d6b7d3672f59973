// SPDX-License-Identifier: MIT
// Ops whose workers load for themselves, in clusters: a cluster for each task (PTX ISA, "st.async",
// "mapa", "barrier.cluster").
#pragma once
#include "backends/sm_80/direct.hpp"

namespace tk::be {

// The blocks of a cluster, as one of them sees it. What they have for one another they put in turn
// into two buffers, each with a barrier, which counts bytes: expect, put and await of one buffer,
// then of the other. A block puts into a buffer again only when it has got what all put into the
// other, which each did after it had read the first.
template <int Count> class block_company {
 public:
  static constexpr int count = Count;
  struct memory {
    alignas(16) std::uint64_t barriers[2];
  };
  TK_DEVICE explicit block_company(memory& m) : barriers_(ptx::smem(m.barriers)) {
    if (ptx::thread() == 0) {
      ptx::barrier_init(barriers_, 1);
      ptx::barrier_init(barriers_ + 8, 1);
      ptx::barrier_init_fence();
    }
    ptx::cluster_sync();  // all have begun
  }
  TK_DEVICE static int rank() { return ptx::cluster_rank(); }
  // One lane says how many bytes come.
  TK_DEVICE void expect(int buffer, int bytes) const {
    ptx::barrier_expect(barriers_ + 8 * buffer, bytes);
    ptx::barrier_arrive(barriers_ + 8 * buffer);
  }
  // To a place that every block has.
  TK_DEVICE void put(int buffer, int block, float& place, float x) const {
    ptx::store_async_at(ptx::smem(&place), barriers_ + 8 * buffer, block, x);
  }
  TK_DEVICE void await(int buffer) {
    ptx::barrier_wait(barriers_ + 8 * buffer, phases_ >> buffer & 1);
    phases_ ^= 1 << buffer;
  }

 private:
  std::uint32_t barriers_;
  int phases_ = 0;
};

template <direct_op Op>
TK_SHARING_KERNEL(Op::workers* worker_lanes, Op::per_unit)
run_direct_cluster(TK_ARGUMENT typename Op::args const a) {
  using company = block_company<Op::cluster>;
  auto& of_company = *reinterpret_cast<typename company::memory*>(ptx::dynamic_smem());
  auto& m = *reinterpret_cast<direct_memory<Op>*>(&of_company + 1);
  worker const w{Op::workers > 1 ? ptx::broadcast(ptx::thread() / worker_lanes) : 0};
  direct_context<Op, company> c{w,  Op::workers_of(a),  m.scratch, m.scratch[w.id()],
                                {}, company(of_company)};
  Op::compute(c, a, Op::task_at(a, ptx::block() / Op::cluster, 0));
}

// What the blocks of a cluster have besides.
template <direct_op Op> constexpr int company_smem_bytes() {
  return Op::cluster > 1 ? static_cast<int>(sizeof(typename block_company<2>::memory)) : 0;
}

}  // namespace tk::be
