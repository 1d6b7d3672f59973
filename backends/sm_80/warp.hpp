// SPDX-License-Identifier: MIT
// Special registers and the instructions that every NVIDIA backend uses, one function each (PTX ISA
// 8.x: 9.7.13 mbarrier, 9.7.14 ldmatrix). Shared addresses are 32-bit. The emulator replaces this
// file as a whole.
#pragma once
#include "backends/select.hpp"
#include "core/element.hpp"

#include TK_CHIP(arch.hpp)

namespace tk::be::ptx {

// ---- where this lane is
TK_DEVICE int thread() { return threadIdx.x; }
TK_DEVICE int block() { return blockIdx.x; }
TK_DEVICE int blocks() { return gridDim.x; }
// Dynamic shared memory of the block; its alignment is whatever the launch gives (16 at least).
TK_DEVICE char* dynamic_smem() {
  extern __shared__ char tk_dynamic_smem[];
  return tk_dynamic_smem;
}
TK_DEVICE std::uint32_t smem(void const* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
// dynamic_smem() from the next multiple of `alignment` on. Kept in a register: else it is made
// anew, which takes long on later chips, wherever it is used.
TK_DEVICE char* aligned_smem(std::uint32_t alignment) {
  std::uint32_t x = (smem(dynamic_smem()) + alignment - 1) & ~(alignment - 1);
  asm volatile("" : "+r"(x));
  return static_cast<char*>(__cvta_shared_to_generic(x));
}

// ---- arithmetic
TK_DEVICE float ex2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// x - y, not fused with the product that x may be.
TK_DEVICE float subtract(float x, float y) { return __fsub_rn(x, y); }
TK_DEVICE float lg2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TK_DEVICE float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TK_DEVICE float rsqrt(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TK_DEVICE float max(float a, float b) { return fmaxf(a, b); }
TK_DEVICE float cos(float x) { return __cosf(x); }
TK_DEVICE float sin(float x) { return __sinf(x); }
// Two numbers rounded to nearest even, `lo` in the lower half.
TK_DEVICE std::uint32_t pack(bf16, float lo, float hi) {
  std::uint32_t y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(hi), "f"(lo));
  return y;
}
TK_DEVICE std::uint32_t pack(fp16, float lo, float hi) {
  std::uint32_t y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(hi), "f"(lo));
  return y;
}
// The largest number where there is no room.
TK_DEVICE std::uint32_t pack(fp8_e4m3, float lo, float hi) {
  std::uint16_t y;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(y) : "f"(hi), "f"(lo));
  return y;
}
TK_DEVICE std::uint32_t pack(fp8_e5m2, float lo, float hi) {
  std::uint16_t y;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(y) : "f"(hi), "f"(lo));
  return y;
}
TK_DEVICE float widen(bf16 x) { return __uint_as_float(std::uint32_t{x.bits} << 16); }
TK_DEVICE float widen(fp16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
TK_DEVICE std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t y;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
TK_DEVICE std::uint32_t multiply_bf16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t y;  // a b - 0
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(0x80008000));
  return y;
}
// The larger magnitudes, of any sign; NaN is smaller than any number.
TK_DEVICE std::uint32_t max_magnitudes_bf16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t y;
  if constexpr (compute_capability >= 86)
    asm("max.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  else asm("max.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a & 0x7fff7fff), "r"(b & 0x7fff7fff));
  return y;
}
TK_DEVICE std::uint32_t max_magnitudes_fp16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t y;
  if constexpr (compute_capability >= 86)
    asm("max.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  else asm("max.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a & 0x7fff7fff), "r"(b & 0x7fff7fff));
  return y;
}
TK_DEVICE std::uint32_t fma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t y;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(a), "r"(b), "r"(c));
  return y;
}
TK_DEVICE std::uint32_t fnma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t y;
  asm("{\n.reg .b32 n;\nneg.f16x2 n, %1;\nfma.rn.f16x2 %0, n, %2, %3;\n}"
      : "=r"(y)
      : "r"(a), "r"(b), "r"(c));
  return y;
}

// ---- memory
// The compiler takes such an access in C++ apart.
TK_DEVICE void write_16_bytes(void* dst, std::uint32_t const* x) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(dst), "r"(x[0]), "r"(x[1]),
               "r"(x[2]), "r"(x[3])
               : "memory");
}

// What is read once, and not kept for others.
TK_DEVICE void read_16_bytes_once(std::uint32_t* x, void const* src) {
  asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "l"(src)
               : "memory");
}

// To the second-level cache, the line of global memory that p is in.
TK_DEVICE void prefetch(void const* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// x, of which the compiler knows nothing: what follows from it is computed here, and not kept in
// registers from before a loop.
TK_DEVICE int opaque(int x) {
  asm volatile("" : "+r"(x));
  return x;
}

// ---- warp
TK_DEVICE float shuffle_xor(float x, int mask) { return __shfl_xor_sync(0xffffffff, x, mask); }
// Bits of such numbers are in their order.
TK_DEVICE float max_of_warp(float x) {
  return __uint_as_float(__reduce_max_sync(0xffffffff, __float_as_uint(x)));
}
TK_DEVICE std::uint32_t shuffle_before(std::uint32_t x, int lanes) {
  return __shfl_sync(0xffffffff, x, static_cast<int>(threadIdx.x) - 1, lanes);
}
// The value of lane 0, known to the compiler as the same in the whole warp.
TK_DEVICE int broadcast(int x) { return __shfl_sync(0xffffffff, x, 0); }
TK_DEVICE bool all(bool x) { return __all_sync(0xffffffff, x); }
TK_DEVICE void warp_sync() { __syncwarp(); }
TK_DEVICE void sync_block() { __syncthreads(); }

// ---- barriers
TK_DEVICE void barrier_init(std::uint32_t bar, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}
TK_DEVICE void barrier_arrive(std::uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
// Whether the phase of this parity has completed.
TK_DEVICE bool barrier_test(std::uint32_t bar, int phase) {
  int done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.b32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(bar), "r"(phase)
      : "memory");
  return done != 0;
}
TK_DEVICE void named_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
TK_DEVICE void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- between blocks
TK_DEVICE unsigned load_acquire(unsigned const* p) {
  unsigned x;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
TK_DEVICE unsigned load_relaxed(unsigned const* p) {
  unsigned x;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
TK_DEVICE void add_release(unsigned* p, unsigned x) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(x) : "memory");
}
// The old value of *p; p counts up to `last` and then starts again at 0.
TK_DEVICE unsigned next_ticket(unsigned* p, unsigned last) { return atomicInc(p, last); }

// ---- within a block: the old value of *p, in shared memory
TK_DEVICE unsigned add_shared(unsigned* p, unsigned x) { return atomicAdd_block(p, x); }

// ---- matrices of 8 x 8: lane 8 m + i gives the address of row i of the m-th
TK_DEVICE void ldmatrix(std::uint32_t src, std::uint32_t& a, std::uint32_t& b, std::uint32_t& c,
                        std::uint32_t& d) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(src)
               : "memory");
}
TK_DEVICE void ldmatrix_transposed(std::uint32_t src, std::uint32_t& a, std::uint32_t& b,
                                   std::uint32_t& c, std::uint32_t& d) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(src)
               : "memory");
}

}  // namespace tk::be::ptx
