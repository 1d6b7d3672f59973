// SPDX-License-Identifier: MIT
// The instructions of sm_90a on the CPU: the same functions as backends/sm_90/intrinsics.hpp, with
// the caller's source line for reports. What they do is in backends/emulator.
#pragma once
#include <cmath>

#include "backends/emulator/emulator.hpp"
#include "backends/emulator/registers.hpp"
#include "backends/emulator/tma.hpp"
#include "backends/emulator/wgmma.hpp"
#include "backends/sm_90/arch.hpp"
#include "core/element.hpp"

namespace tk::be::ptx {

using tensor_map = emulator::tensor_map;
using here = std::source_location;

// ---- where this lane is
TK_DEVICE int thread() { return emulator::thread_index(); }
TK_DEVICE int block() { return emulator::block_index(); }
TK_DEVICE int blocks() { return emulator::block_count(); }
TK_DEVICE int cluster_rank() { return emulator::cluster_rank(); }
// Dynamic shared memory of the block: 16-byte aligned and not more.
TK_DEVICE char* dynamic_smem() { return emulator::shared_memory(); }
TK_DEVICE std::uint32_t smem(void const* p, here where = here::current()) {
  return emulator::shared_address(p, where);
}

// ---- arithmetic; .ftz takes and gives zero for subnormal numbers
TK_DEVICE float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0 * x : x; }
TK_DEVICE float ex2(float x) { return flush(std::exp2(flush(x))); }
TK_DEVICE float lg2(float x) { return flush(std::log2(flush(x))); }
TK_DEVICE float reciprocal(float x) { return flush(1 / flush(x)); }
TK_DEVICE float rsqrt(float x) { return flush(1 / std::sqrt(flush(x))); }
TK_DEVICE float max(float a, float b) { return std::fmax(a, b); }
// Two numbers rounded to nearest even, `lo` in the lower half.
template <class T> TK_DEVICE std::uint32_t pack_as(float lo, float hi) {
  return std::uint32_t{round_to<T>(hi).bits} << 16 | round_to<T>(lo).bits;
}
TK_DEVICE std::uint32_t pack(bf16, float lo, float hi) { return pack_as<bf16>(lo, hi); }
TK_DEVICE std::uint32_t pack(fp16, float lo, float hi) { return pack_as<fp16>(lo, hi); }
TK_DEVICE float widen(bf16 x) { return emulator::widen_bf16(x.bits); }
TK_DEVICE float widen(fp16 x) { return emulator::widen_fp16(x.bits); }

// ---- warp
TK_DEVICE float shuffle_xor(float x, int mask, here where = here::current()) {
  struct {
    float mine, theirs;
    int mask;
  } op{x, 0, mask};
  emulator::collective(
      op,
      [](auto* const* lanes) {
        for (int l = 0; l < warp_lanes; ++l)
          lanes[l]->theirs = lanes[(l ^ lanes[l]->mask) & 31]->mine;
      },
      "shuffle", where);
  return op.theirs;
}
// The value of lane 0.
TK_DEVICE int broadcast(int x, here where = here::current()) {
  emulator::collective(
      x,
      [](int* const* lanes) {
        for (int l = 1; l < warp_lanes; ++l) *lanes[l] = *lanes[0];
      },
      "broadcast", where);
  return x;
}
TK_DEVICE void warp_sync(here where = here::current()) { emulator::sync_warp(where); }
TK_DEVICE void sync_block(here where = here::current()) { emulator::sync_block(where); }

// ---- mbarrier
TK_DEVICE void barrier_init(std::uint32_t bar, int arrivals, here where = here::current()) {
  emulator::mbarrier_init(bar, arrivals, where);
}
TK_DEVICE void barrier_init_fence() { emulator::mbarrier_init_fence(); }
TK_DEVICE void barrier_expect(std::uint32_t bar, int bytes, here where = here::current()) {
  emulator::mbarrier_expect(bar, bytes, where);
}
TK_DEVICE void barrier_arrive(std::uint32_t bar, here where = here::current()) {
  emulator::mbarrier_arrive(bar, where);
}
TK_DEVICE void barrier_arrive_at(std::uint32_t bar, int block, here where = here::current()) {
  emulator::mbarrier_arrive(emulator::to_rank(bar, block), where);
}
TK_DEVICE void cluster_sync(here where = here::current()) { emulator::sync_cluster(where); }
TK_DEVICE void barrier_wait(std::uint32_t bar, int phase, here where = here::current()) {
  emulator::mbarrier_wait(bar, phase, where);
}

// ---- named barriers and registers
TK_DEVICE void named_sync(int id, int threads, here where = here::current()) {
  emulator::named_sync(id, threads, where);
}
TK_DEVICE void named_arrive(int id, int threads, here where = here::current()) {
  emulator::named_arrive(id, threads, where);
}
template <int N> TK_DEVICE void give_registers(here where = here::current()) {
  emulator::set_registers(N, where);
}
template <int N> TK_DEVICE void take_registers(here where = here::current()) {
  emulator::set_registers(N, where);
}

// ---- between blocks
TK_DEVICE unsigned load_acquire(unsigned const* p, here where = here::current()) {
  return emulator::poll(p, where);
}
TK_DEVICE void add_release(unsigned* p, unsigned x) { __atomic_fetch_add(p, x, __ATOMIC_RELEASE); }
// The old value of *p; p counts up to `last` and then starts again at 0.
TK_DEVICE unsigned next_ticket(unsigned* p, unsigned last) {
  unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, old >= last ? 0 : old + 1, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {}
  return old;
}

// ---- bulk tensor copies; coordinates innermost first
template <int Rank>
TK_DEVICE void tma_load(std::uint32_t dst, tensor_map const* map, int const (&c)[Rank],
                        std::uint32_t bar, here where = here::current()) {
  emulator::tensor_load(dst, map, c, bar, where);
}
template <int Rank>
TK_DEVICE void tma_load_to_all(std::uint32_t dst, tensor_map const* map, int const (&c)[Rank],
                               std::uint32_t bar, std::uint16_t blocks,
                               here where = here::current()) {
  emulator::tensor_load_to_all(dst, map, c, bar, blocks, where);
}
template <int Rank>
TK_DEVICE void tma_store(tensor_map const* map, int const (&c)[Rank], std::uint32_t src,
                         here where = here::current()) {
  emulator::tensor_store(map, c, src, where);
}
template <int Rank>
TK_DEVICE void tma_store_add(tensor_map const* map, int const (&c)[Rank], std::uint32_t src,
                             here where = here::current()) {
  emulator::tensor_store_add(map, c, src, where);
}
TK_DEVICE void tma_store_commit() { emulator::store_commit(); }
template <int N> TK_DEVICE void tma_store_read(here where = here::current()) {
  emulator::store_wait(N, false, where);
}
TK_DEVICE void tma_store_done(here where = here::current()) {
  emulator::store_wait(0, true, where);
}
TK_DEVICE void proxy_fence(here where = here::current()) { emulator::proxy_fence(where); }
TK_DEVICE void stmatrix(std::uint32_t dst, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        std::uint32_t d, here where = here::current()) {
  emulator::stmatrix(dst, a, b, c, d, where);
}
TK_DEVICE void ldmatrix(std::uint32_t src, std::uint32_t& a, std::uint32_t& b, std::uint32_t& c,
                        std::uint32_t& d, here where = here::current()) {
  emulator::ldmatrix(src, a, b, c, d, where);
}
TK_DEVICE void ldmatrix_transposed(std::uint32_t src, std::uint32_t& a, std::uint32_t& b,
                                   std::uint32_t& c, std::uint32_t& d,
                                   here where = here::current()) {
  emulator::ldmatrix_transposed(src, a, b, c, d, where);
}
// Contiguous bytes, a multiple of 16 at 16-byte boundaries.
TK_DEVICE void bulk_load(std::uint32_t dst, void const* src, int bytes, std::uint32_t bar,
                         here where = here::current()) {
  emulator::bulk_load(dst, src, bytes, bar, where);
}
TK_DEVICE void add_to_global(float* dst, float a, float b, float c, float d,
                             here where = here::current()) {
  if (reinterpret_cast<std::uintptr_t>(dst) % 16 != 0)
    emulator::fail("addition of four floats at an address that is no multiple of 16", where);
  float const x[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) emulator::atomic_add(dst + i, x[i]);
}

// ---- wgmma
TK_DEVICE void wgmma_fence(here where = here::current()) { emulator::wgmma_fence(where); }
TK_DEVICE void wgmma_commit(here where = here::current()) { emulator::wgmma_commit(where); }
template <int N> TK_DEVICE void wgmma_wait(here where = here::current()) {
  emulator::wgmma_wait(N, where);
}
// Orders ordinary uses of a register after what came before; a running product's is an error.
TK_DEVICE void touch(float& x, here where = here::current()) {
  asm volatile("" : "+m"(x)::"memory");
  emulator::check_settled(x, where);
}
TK_DEVICE void touch(std::uint32_t& x) { asm volatile("" : "+m"(x)::"memory"); }

// wgmma<T, N>::ss: d[64, N] (+)= A[64, 16] B[16, N], both in shared memory; rs: A in registers.
// TransA = 1 reads A with its M dimension contiguous, TransB = 1 B with its N dimension.
// a and b are the low words of descriptors, HighA and HighB the high ones.
template <class T, int N> struct wgmma {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256);
  static constexpr bool is_bf16 = std::is_same_v<T, bf16>;

  template <int TransA, int TransB, std::uint32_t HighA, std::uint32_t HighB>
  static TK_DEVICE void ss(float* d, std::uint32_t a, std::uint32_t b, int keep,
                           here where = here::current()) {
    emulator::wgmma_issue({N, is_bf16, keep != 0, false, TransA != 0, TransB != 0,
                           std::uint64_t{HighA} << 32 | a, std::uint64_t{HighB} << 32 | b},
                          d, nullptr, where);
  }
  template <int TransB, std::uint32_t HighB>
  static TK_DEVICE void rs(float* d, std::uint32_t const* a, std::uint32_t b, int keep,
                           here where = here::current()) {
    emulator::wgmma_issue(
        {N, is_bf16, keep != 0, true, false, TransB != 0, 0, std::uint64_t{HighB} << 32 | b}, d, a,
        where);
  }
};

}  // namespace tk::be::ptx
