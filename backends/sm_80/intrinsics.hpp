// SPDX-License-Identifier: MIT
// The instructions of sm_80, sm_86 and sm_89 that the backend uses beyond those of all NVIDIA
// chips, one function each (PTX ISA 8.x: 9.7.9.25.3 cp.async, 9.7.13 mbarrier, 9.7.14.5 mma). The
// emulator replaces this file as a whole.
#pragma once
#include "backends/sm_80/warp.hpp"

namespace tk::be::ptx {

// ---- warp
TK_DEVICE unsigned ballot(bool x) { return __ballot_sync(0xffffffff, x); }
TK_DEVICE int first_bit(unsigned x) { return __ffs(static_cast<int>(x)) - 1; }
// The pointer of another lane.
TK_DEVICE char const* shuffle(char const* p, int lane) {
  return reinterpret_cast<char const*>(
      __shfl_sync(0xffffffff, reinterpret_cast<unsigned long long>(p), lane));
}

// ---- mbarrier
TK_DEVICE void barrier_wait(std::uint32_t bar, int phase) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.test_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\nbra again;\nover:\n}" ::"r"(bar),
      "r"(phase)
      : "memory");
}

// ---- copies from global to shared memory: Bytes at a multiple of Bytes
template <int Bytes> TK_DEVICE void copy_async(std::uint32_t dst, void const* src) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(dst), "l"(src)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(dst), "l"(src), "n"(Bytes)
                 : "memory");
}
// Only the first `inside` bytes are read; the rest becomes zero.
template <int Bytes> TK_DEVICE void copy_async(std::uint32_t dst, void const* src, int inside) {
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(inside)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst), "l"(src), "n"(Bytes),
                 "r"(inside)
                 : "memory");
}
// Arrives for this lane when all copies that it has issued are there. All lanes of a warp together.
TK_DEVICE void copy_arrive(std::uint32_t bar) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}
// The copies that this lane has issued since it last committed are a group.
TK_DEVICE void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until all but the latest N of the groups that this lane has committed are there.
template <int N> TK_DEVICE void copy_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
// Until all copies that this lane has issued are there.
TK_DEVICE void copy_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ---- atomics
TK_DEVICE void add_to_global(float* dst, float x) { atomicAdd(dst, x); }
TK_DEVICE void add_to_global(float* dst, float a, float b, float c, float d) {
  atomicAdd(dst, a);
  atomicAdd(dst + 1, b);
  atomicAdd(dst + 2, c);
  atomicAdd(dst + 3, d);
}

// ---- products
// d[16, 8] = a[16, k] b[k, 8] (+ d), k = 16, or 32 for fp8, which not every chip has. Not volatile:
// a product depends on its operands alone.
#define TK_MMA(A, B, FORM)                                                                       \
  TK_DEVICE void mma(A, B, float* d, std::uint32_t const* a, std::uint32_t b0, std::uint32_t b1, \
                     bool keep) {                                                                \
    float const c[] = {keep ? d[0] : 0.f, keep ? d[1] : 0.f, keep ? d[2] : 0.f,                  \
                       keep ? d[3] : 0.f};                                                       \
    asm("mma.sync.aligned." FORM                                                                 \
        ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"               \
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                         \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),    \
          "f"(c[2]), "f"(c[3]));                                                                 \
  }
TK_MMA(bf16, bf16, "m16n8k16.row.col.f32.bf16.bf16")
TK_MMA(fp16, fp16, "m16n8k16.row.col.f32.f16.f16")
TK_MMA(fp8_e4m3, fp8_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3")
TK_MMA(fp8_e4m3, fp8_e5m2, "m16n8k32.row.col.f32.e4m3.e5m2")
TK_MMA(fp8_e5m2, fp8_e4m3, "m16n8k32.row.col.f32.e5m2.e4m3")
TK_MMA(fp8_e5m2, fp8_e5m2, "m16n8k32.row.col.f32.e5m2.e5m2")
#undef TK_MMA

}  // namespace tk::be::ptx
