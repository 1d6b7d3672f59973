// SPDX-License-Identifier: MIT
// The instructions of sm_90a on the CPU beyond those of all NVIDIA chips: the same functions as
// backends/sm_90/intrinsics.hpp, with the caller's source line for reports. What they do is in
// backends/emulator.
#pragma once
#include "backends/emulator/async_copy.hpp"
#include "backends/emulator/registers.hpp"
#include "backends/emulator/sm_80/warp.hpp"
#include "backends/emulator/tma.hpp"
#include "backends/emulator/wgmma.hpp"

namespace tk::be::ptx {

using tensor_map = emulator::tensor_map;

// ---- clusters
TK_DEVICE int cluster_rank() { return emulator::cluster_rank(); }

TK_DEVICE void store_async_at(std::uint32_t dst, std::uint32_t bar, int block, float x,
                              here where = here::current()) {
  if (!emulator::omitted(where))
    emulator::store_async(emulator::to_rank(dst, block), x, emulator::to_rank(bar, block), where);
}

// ---- mbarrier
TK_DEVICE void barrier_init_fence(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::mbarrier_init_fence();
}
TK_DEVICE void barrier_expect(std::uint32_t bar, int bytes, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::mbarrier_expect(bar, bytes, where);
}
TK_DEVICE void barrier_arrive_at(std::uint32_t bar, int block, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::mbarrier_arrive(emulator::to_rank(bar, block), where);
}
TK_DEVICE void cluster_sync(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::sync_cluster(where);
}
TK_DEVICE std::uint32_t opaque_zero() { return 0; }
TK_DEVICE void barrier_wait(std::uint32_t bar, int phase, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::mbarrier_wait(bar, phase, where);
}

// ---- registers
template <int N> TK_DEVICE void give_registers(here where = here::current()) {
  emulator::set_registers(N, where);
}
template <int N> TK_DEVICE void take_registers(here where = here::current()) {
  emulator::set_registers(N, where);
}

// ---- copies of 16 bytes by a lane
TK_DEVICE void copy_async(std::uint32_t dst, void const* src, int inside,
                          here where = here::current()) {
  emulator::copy_async(dst, src, 16, inside, where);
}
TK_DEVICE void copy_wait(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::copy_wait_all();
}

// ---- bulk tensor copies; coordinates innermost first
TK_DEVICE void tma_load(std::uint32_t dst, tensor_map const* map, int const (&c)[4],
                        std::uint32_t bar, here where = here::current()) {
  emulator::tensor_load(dst, map, c, bar, where);
}
TK_DEVICE void tma_load_to_all(std::uint32_t dst, tensor_map const* map, int const (&c)[4],
                               std::uint32_t bar, std::uint16_t blocks,
                               here where = here::current()) {
  emulator::tensor_load_to_all(dst, map, c, bar, blocks, where);
}
TK_DEVICE void tma_store(tensor_map const* map, int const (&c)[4], std::uint32_t src,
                         here where = here::current()) {
  emulator::tensor_store(map, c, src, where);
}
TK_DEVICE void tma_store_commit(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::store_commit();
}
template <int N> TK_DEVICE void tma_store_read(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::store_wait(N, false, where);
}
TK_DEVICE void tma_store_done(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::store_wait(0, true, where);
}
TK_DEVICE void proxy_fence(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::proxy_fence(where);
}
TK_DEVICE void stmatrix(std::uint32_t dst, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        std::uint32_t d, here where = here::current()) {
  emulator::stmatrix(dst, a, b, c, d, where);
}
TK_DEVICE void stmatrix_transposed(std::uint32_t dst, std::uint32_t a, std::uint32_t b,
                                   std::uint32_t c, std::uint32_t d, here where = here::current()) {
  emulator::stmatrix_transposed(dst, a, b, c, d, where);
}
// Contiguous bytes, a multiple of 16 at 16-byte boundaries.
TK_DEVICE void bulk_load(std::uint32_t dst, void const* src, int bytes, std::uint32_t bar,
                         here where = here::current()) {
  emulator::bulk_load(dst, src, bytes, bar, where);
}
TK_DEVICE void bulk_store(void* dst, std::uint32_t src, int bytes, here where = here::current()) {
  emulator::bulk_store(dst, src, bytes, emulator::copy_kind::plain, where);
}
TK_DEVICE void bulk_add(float* dst, std::uint32_t src, int bytes, here where = here::current()) {
  emulator::bulk_store(dst, src, bytes, emulator::copy_kind::add_float, where);
}
TK_DEVICE void proxy_fence_global() {}
TK_DEVICE void add_to_global(float* dst, float x) { emulator::atomic_add(dst, x); }
TK_DEVICE void add_to_global(float* dst, float a, float b, float c, float d,
                             here where = here::current()) {
  if (reinterpret_cast<std::uintptr_t>(dst) % 16 != 0)
    emulator::fail("addition of four floats at an address that is no multiple of 16", where);
  float const x[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) emulator::atomic_add(dst + i, x[i]);
}

// ---- wgmma
TK_DEVICE void wgmma_fence(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::wgmma_fence(where);
}
TK_DEVICE void wgmma_commit(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::wgmma_commit(where);
}
template <int N> TK_DEVICE void wgmma_wait(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::wgmma_wait(N, where);
}
// Orders ordinary uses of a register after what came before; a running product's is an error.
TK_DEVICE void touch(float& x, here where = here::current()) {
  asm volatile("" : "+m"(x)::"memory");
  emulator::check_settled(x, where);
}
TK_DEVICE void touch(std::uint32_t& x, here where = here::current()) {
  asm volatile("" : "+m"(x)::"memory");
  emulator::check_settled(x, where);
}

// wgmma<A, B, N>::ss: d[64, N] (+)= a[64, k] b[k, N], both in shared memory; rs: a in registers,
// rs_minus: d -= it. A and B are element types; k = 16, or 32 of fp8, which has no rs. Sums are
// fp32, or with wgmma_fp16<N> of fp16 operands pairs of fp16, rounded by each instruction.
// TransA = 1 reads a with its M dimension contiguous, TransB = 1 b with its N dimension; not of
// fp8. a and b are the low words of descriptors, HighA and HighB the high ones.
template <class A, class B, class S, int N> struct wgmma_of {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  static constexpr auto a_kind = emulator::operand_kind_of<A>,
                        b_kind = emulator::operand_kind_of<B>;
  static constexpr bool fp16_sums = !std::is_same_v<S, float>;

  template <int TransA, int TransB, std::uint32_t HighA, std::uint32_t HighB>
  static TK_DEVICE void ss(S* d, std::uint32_t a, std::uint32_t b, int keep,
                           here where = here::current()) {
    emulator::wgmma_issue(
        {N, a_kind, b_kind, keep != 0, false, TransA != 0, TransB != 0,
         std::uint64_t{HighA} << 32 | a, std::uint64_t{HighB} << 32 | b, false, fp16_sums},
        d, nullptr, where);
  }
  template <int TransB, std::uint32_t HighB>
    requires(sizeof(A) == 2)
  static TK_DEVICE void rs(S* d, std::uint32_t const* a, std::uint32_t b, int keep,
                           here where = here::current()) {
    emulator::wgmma_issue({N, a_kind, b_kind, keep != 0, true, false, TransB != 0, 0,
                           std::uint64_t{HighB} << 32 | b, false, fp16_sums},
                          d, a, where);
  }
  template <int TransB, std::uint32_t HighB>
    requires(sizeof(A) == 2)
  static TK_DEVICE void rs_minus(S* d, std::uint32_t const* a, std::uint32_t b, int keep,
                                 here where = here::current()) {
    emulator::wgmma_issue({N, a_kind, b_kind, keep != 0, true, false, TransB != 0, 0,
                           std::uint64_t{HighB} << 32 | b, true, fp16_sums},
                          d, a, where);
  }
};
template <class A, class B, int N> using wgmma = wgmma_of<A, B, float, N>;
template <int N> using wgmma_fp16 = wgmma_of<fp16, fp16, std::uint32_t, N>;

}  // namespace tk::be::ptx
