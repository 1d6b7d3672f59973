// SPDX-License-Identifier: MIT
// The blocks of a cluster, as one of them sees it (PTX ISA, "st.async", "mapa").
#pragma once
#include "backends/sm_80/barriers.hpp"

namespace tk::be {

// What blocks have for one another they put into two buffers in turn, each with a barrier, which
// counts bytes: expect, put and await. A block puts into a buffer again only when it has got what
// all put into the other, which each did after it had read the first.
template <int Count> class block_company {
 public:
  static constexpr int count = Count;
  struct memory {
    alignas(16) std::uint64_t barriers[2];
    // By one lane, before all blocks meet.
    TK_DEVICE void init() {
      for (auto& b : barriers) ptx::barrier_init(ptx::smem(&b), 1);
    }
  };
  TK_DEVICE explicit block_company(memory& m) : barriers_(ptx::smem(m.barriers)) {}
  TK_DEVICE static int rank() { return ptx::cluster_rank(); }
  // Whose turn it is.
  TK_DEVICE int buffer() const { return buffer_; }
  // One lane says how many bytes come.
  TK_DEVICE void expect(int bytes) const {
    ptx::barrier_expect(barrier(), bytes);
    ptx::barrier_arrive(barrier());
  }
  // To a place that every block has.
  TK_DEVICE void put(int block, float& place, float x) const {
    ptx::store_async_at(ptx::smem(&place), barrier(), block, x);
  }
  TK_DEVICE void await() {
    ptx::barrier_wait(barrier(), phase_);
    phase_ ^= buffer_;
    buffer_ ^= 1;
  }

 private:
  TK_DEVICE std::uint32_t barrier() const { return barriers_ + 8 * buffer_; }
  std::uint32_t barriers_;
  int buffer_ = 0, phase_ = 0;
};
template <> class block_company<1> {
 public:
  struct memory {
    TK_DEVICE static void init() {}
  };
  TK_DEVICE explicit block_company(memory const&) {}
};

}  // namespace tk::be
