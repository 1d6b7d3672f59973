// SPDX-License-Identifier: MIT
// The instructions of sm_90a that the backend uses beyond those of all NVIDIA chips, one function
// each (PTX ISA 8.x: 9.7.13 mbarrier, 9.7.9.27 bulk tensor copies, 9.7.15 wgmma, setmaxnreg).
// Shared addresses are 32-bit. The emulator replaces this file as a whole.
#pragma once
#include <cuda.h>

#include "backends/sm_80/warp.hpp"

namespace tk::be::ptx {

using tensor_map = CUtensorMap;

// ---- clusters
TK_DEVICE int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// To the same place of a block's shared memory; completes four bytes of its barrier.
TK_DEVICE void store_async_at(std::uint32_t dst, std::uint32_t bar, int block, float x) {
  asm volatile(
      "{\n.reg .b32 there, bar;\nmapa.shared::cluster.u32 there, %0, %2;\n"
      "mapa.shared::cluster.u32 bar, %1, %2;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %3, [bar];\n}" ::"r"(dst),
      "r"(bar), "r"(block), "r"(__float_as_uint(x))
      : "memory");
}

// ---- mbarrier
TK_DEVICE void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
TK_DEVICE void barrier_expect(std::uint32_t bar, int bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
// Without .release.cluster: for that ptxas 13.0 emits MEMBAR.ALL.GPU, which cost a fifth of a large
// product. The arrival says only that tiles have been read, so it publishes no writes.
TK_DEVICE void barrier_arrive_at(std::uint32_t bar, int block) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(bar),
      "r"(block)
      : "memory");
}
TK_DEVICE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
TK_DEVICE void barrier_wait(std::uint32_t bar, int phase) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\nbra again;\nover:\n}" ::"r"(bar),
      "r"(phase)
      : "memory");
}

// ---- registers
template <int N> TK_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N> TK_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

// ---- copies of 16 bytes by a lane, of which the first `inside` are read, and zero for the rest
TK_DEVICE void copy_async(std::uint32_t dst, void const* src, int inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(inside)
               : "memory");
}
// Until all copies that this lane has issued are there.
TK_DEVICE void copy_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// ---- bulk tensor copies; coordinates innermost first
TK_DEVICE void tma_load(std::uint32_t dst, tensor_map const* map, int const (&c)[4],
                        std::uint32_t bar) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3, %4, %5}], [%6];" ::"r"(dst),
      "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(bar)
      : "memory");
}
TK_DEVICE void tma_load_to_all(std::uint32_t dst, tensor_map const* map, int const (&c)[4],
                               std::uint32_t bar, std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(dst),
      "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(bar), "h"(blocks)
      : "memory");
}
TK_DEVICE void tma_store(tensor_map const* map, int const (&c)[4], std::uint32_t src) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%1, {%2, %3, %4, %5}], [%0];" ::"r"(
          src),
      "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
      : "memory");
}
TK_DEVICE void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> TK_DEVICE void tma_store_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
TK_DEVICE void tma_store_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
TK_DEVICE void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
TK_DEVICE void stmatrix(std::uint32_t dst, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        std::uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(dst),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
TK_DEVICE void stmatrix_transposed(std::uint32_t dst, std::uint32_t a, std::uint32_t b,
                                   std::uint32_t c, std::uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(dst),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

// Contiguous bytes, a multiple of 16 at 16-byte boundaries.
TK_DEVICE void bulk_load(std::uint32_t dst, void const* src, int bytes, std::uint32_t bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(dst),
      "l"(src), "r"(bytes), "r"(bar)
      : "memory");
}
// The same from shared to global memory; fp32 numbers may be added to what is there.
TK_DEVICE void bulk_store(void* dst, std::uint32_t src, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(src),
               "r"(bytes)
               : "memory");
}
TK_DEVICE void bulk_add(float* dst, std::uint32_t src, int bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(dst),
      "r"(src), "r"(bytes)
      : "memory");
}
// Orders this lane's ordinary and asynchronous accesses of global memory before and after it.
TK_DEVICE void proxy_fence_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
TK_DEVICE void add_to_global(float* dst, float x) { atomicAdd(dst, x); }
TK_DEVICE void add_to_global(float* dst, float a, float b, float c, float d) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(dst), "f"(a),
               "f"(b), "f"(c), "f"(d)
               : "memory");
}

// ---- wgmma
TK_DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TK_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> TK_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// Orders ordinary uses of a register after the asm statements before it; emits nothing.
TK_DEVICE void touch(float& x) { asm volatile("" : "+f"(x)::"memory"); }
TK_DEVICE void touch(std::uint32_t& x) { asm volatile("" : "+r"(x)::"memory"); }

// Zero, which ptxas does not know.
TK_DEVICE std::uint32_t opaque_zero() {
  std::uint32_t x;
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(x));
  return x >> 31;
}

// wgmma<A, B, N>::ss: d[64, N] (+)= a[64, k] b[k, N], both in shared memory; rs: a in registers,
// rs_minus: d -= it. A and B are element types; k = 16, or 32 of fp8, which has no rs. Sums are
// fp32, or with wgmma_fp16<N> of fp16 operands pairs of fp16, rounded by each instruction.
// TransA = 1 reads a with its M dimension contiguous, TransB = 1 b with its N dimension; not of
// fp8. a and b are the low words of descriptors (start and leading offset), HighA and HighB the
// high ones (stride offset and swizzle), constants of a tile: adding in 32 bits halves the
// arithmetic between two products.
template <class A, class B, int N> struct wgmma;
template <int N> struct wgmma_fp16;
#define TK_R10(x) \
  "%" #x "0,%" #x "1,%" #x "2,%" #x "3,%" #x "4,%" #x "5,%" #x "6,%" #x "7,%" #x "8,%" #x "9,"
// Outputs, of the constraint C.
#define TK_D4(C, i) C(d[i]), C(d[i + 1]), C(d[i + 2]), C(d[i + 3])
#define TK_D8(C, i) TK_D4(C, i), TK_D4(C, i + 4)
#define TK_D32(C, i) TK_D8(C, i), TK_D8(C, i + 8), TK_D8(C, i + 16), TK_D8(C, i + 24)
#define TK_WGMMA_RS(NAME, SIGN, D, C, TYPES, N, O0, O1, O2, O3, O4, O5, O6, O7)                \
  template <int TransB, std::uint32_t HighB>                                                   \
  static TK_DEVICE void NAME(D* d, std::uint32_t const* a, std::uint32_t b, int keep) {        \
    asm volatile("{\n.reg .pred p;\n.reg .b64 b;\nsetp.ne.b32 p, " O5 ", 0;\nmov.b64 b, {" O4  \
                 ", " O7 "};\nwgmma.mma_async.sync.aligned.m64n" #N "k16." TYPES " {" TK_REGS  \
                 "}, {" O0 ", " O1 ", " O2 ", " O3 "}, b, p, " SIGN ", 1, " O6 ";\n}"          \
                 : TK_OUT(C)                                                                   \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(keep), "n"(TransB), \
                   "n"(HighB)                                                                  \
                 : "memory");                                                                  \
  }
#define TK_WGMMA_16(D, C, TYPES, N, O0, O1, O2, O3, O4, O5, O6, O7)                            \
  {template <int TransA, int TransB, std::uint32_t HighA, std::uint32_t HighB>                 \
   static TK_DEVICE void ss(D * d, std::uint32_t a, std::uint32_t b, int keep){asm volatile(   \
       "{\n.reg .pred p;\n.reg .b64 a, b;\nsetp.ne.b32 p, " O2 ", 0;\nmov.b64 a, {" O0 ", " O5 \
       "};\nmov.b64 b, {" O1 ", " O6 "};\nwgmma.mma_async.sync.aligned.m64n" #N "k16." TYPES   \
       " {" TK_REGS "}, a, b, p, 1, 1, " O4 ", " O3 ";\n}" : TK_OUT(C) : "r"(a),               \
       "r"(b), "r"(keep), "n"(TransB), "n"(TransA), "n"(HighA), "n"(HighB) : "memory");        \
  }                                                                                            \
  TK_WGMMA_RS(rs, "1", D, C, TYPES, N, O0, O1, O2, O3, O4, O5, O6, O7)                         \
  TK_WGMMA_RS(rs_minus, "-1", D, C, TYPES, N, O0, O1, O2, O3, O4, O5, O6, O7)                  \
  }                                                                                            \
  ;
#define TK_WGMMA_8(A, B, TYPES, N, O0, O1, O2, O3, O4)                                             \
  template <> struct wgmma<A, B, N> {                                                              \
    template <int TransA, int TransB, std::uint32_t HighA, std::uint32_t HighB>                    \
    static TK_DEVICE void ss(float* d, std::uint32_t a, std::uint32_t b, int keep) {               \
      static_assert(TransA == 0 && TransB == 0);                                                   \
      asm volatile("{\n.reg .pred p;\n.reg .b64 a, b;\nsetp.ne.b32 p, " O2 ", 0;\nmov.b64 a, {" O0 \
                   ", " O3 "};\nmov.b64 b, {" O1 ", " O4                                           \
                   "};\nwgmma.mma_async.sync.aligned.m64n" #N "k32.f32." TYPES " {" TK_REGS        \
                   "}, a, b, p, 1, 1;\n}"                                                          \
                   : TK_OUT("+f")                                                                  \
                   : "r"(a), "r"(b), "r"(keep), "n"(HighA), "n"(HighB)                             \
                   : "memory");                                                                    \
    }                                                                                              \
  };
#define TK_WGMMA_OF(N, O0, O1, O2, O3, O4, O5, O6, O7)                                             \
  template <>                                                                                      \
  struct wgmma<bf16, bf16, N> TK_WGMMA_16(float, "+f", "f32.bf16.bf16", N, O0, O1, O2, O3, O4, O5, \
                                          O6, O7) template <>                                      \
  struct wgmma<fp16, fp16, N> TK_WGMMA_16(float, "+f", "f32.f16.f16", N, O0, O1, O2, O3, O4, O5,   \
                                          O6, O7)                                                  \
      TK_WGMMA_8(fp8_e4m3, fp8_e4m3, "e4m3.e4m3", N, O0, O1, O2, O3, O4)                           \
          TK_WGMMA_8(fp8_e4m3, fp8_e5m2, "e4m3.e5m2", N, O0, O1, O2, O3, O4)                       \
              TK_WGMMA_8(fp8_e5m2, fp8_e4m3, "e5m2.e4m3", N, O0, O1, O2, O3, O4)                   \
                  TK_WGMMA_8(fp8_e5m2, fp8_e5m2, "e5m2.e5m2", N, O0, O1, O2, O3, O4)
#define TK_WGMMA_FP16_OF(N, ...) \
  template <> struct wgmma_fp16<N> TK_WGMMA_16(std::uint32_t, "+r", "f16.f16.f16", N, __VA_ARGS__)
#define TK_WGMMA(N, ...) TK_WGMMA_OF(N, __VA_ARGS__)
#define TK_WGMMA_FP16(N, ...) TK_WGMMA_FP16_OF(N, __VA_ARGS__)
// The first 10, 20, ... registers, each followed by a comma.
#define TK_T1 TK_R10()
#define TK_T2 TK_T1 TK_R10(1)
#define TK_T3 TK_T2 TK_R10(2)
#define TK_T4 TK_T3 TK_R10(3)
#define TK_T5 TK_T4 TK_R10(4)
#define TK_T6 TK_T5 TK_R10(5)
#define TK_T7 TK_T6 TK_R10(6)
#define TK_T8 TK_T7 TK_R10(7)
#define TK_T9 TK_T8 TK_R10(8)
#define TK_T10 TK_T9 TK_R10(9)
#define TK_T11 TK_T10 TK_R10(10)
#define TK_T12 TK_T11 TK_R10(11)
// The instances of each n, and those of 2 n with sums of fp16, which have as many registers: these,
// outputs, and the numbers of the eight inputs.
#define TK_REGS "%0,%1,%2,%3"
#define TK_OUT(C) TK_D4(C, 0)
#define TK_IN "%4", "%5", "%6", "%7", "%8", "%9", "%10", "%11"
TK_WGMMA_FP16(16, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS "%0,%1,%2,%3,%4,%5,%6,%7"
#define TK_OUT(C) TK_D8(C, 0)
#define TK_IN "%8", "%9", "%10", "%11", "%12", "%13", "%14", "%15"
TK_WGMMA(16, TK_IN)
TK_WGMMA_FP16(32, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T1 "%10,%11,%12,%13,%14,%15"
#define TK_OUT(C) TK_D8(C, 0), TK_D8(C, 8)
#define TK_IN "%16", "%17", "%18", "%19", "%20", "%21", "%22", "%23"
TK_WGMMA(32, TK_IN)
TK_WGMMA_FP16(64, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T2 "%20,%21,%22,%23"
#define TK_OUT(C) TK_D8(C, 0), TK_D8(C, 8), TK_D8(C, 16)
#define TK_IN "%24", "%25", "%26", "%27", "%28", "%29", "%30", "%31"
TK_WGMMA(48, TK_IN)
TK_WGMMA_FP16(96, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T3 "%30,%31"
#define TK_OUT(C) TK_D32(C, 0)
#define TK_IN "%32", "%33", "%34", "%35", "%36", "%37", "%38", "%39"
TK_WGMMA(64, TK_IN)
TK_WGMMA_FP16(128, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T3 "%30,%31,%32,%33,%34,%35,%36,%37,%38,%39"
#define TK_OUT(C) TK_D32(C, 0), TK_D8(C, 32)
#define TK_IN "%40", "%41", "%42", "%43", "%44", "%45", "%46", "%47"
TK_WGMMA(80, TK_IN)
TK_WGMMA_FP16(160, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T4 "%40,%41,%42,%43,%44,%45,%46,%47"
#define TK_OUT(C) TK_D32(C, 0), TK_D8(C, 32), TK_D8(C, 40)
#define TK_IN "%48", "%49", "%50", "%51", "%52", "%53", "%54", "%55"
TK_WGMMA(96, TK_IN)
TK_WGMMA_FP16(192, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T5 "%50,%51,%52,%53,%54,%55"
#define TK_OUT(C) TK_D32(C, 0), TK_D8(C, 32), TK_D8(C, 40), TK_D8(C, 48)
#define TK_IN "%56", "%57", "%58", "%59", "%60", "%61", "%62", "%63"
TK_WGMMA(112, TK_IN)
TK_WGMMA_FP16(224, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T6 "%60,%61,%62,%63"
#define TK_OUT(C) TK_D32(C, 0), TK_D32(C, 32)
#define TK_IN "%64", "%65", "%66", "%67", "%68", "%69", "%70", "%71"
TK_WGMMA(128, TK_IN)
TK_WGMMA_FP16(256, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T7 "%70,%71"
#define TK_OUT(C) TK_D32(C, 0), TK_D32(C, 32), TK_D8(C, 64)
#define TK_IN "%72", "%73", "%74", "%75", "%76", "%77", "%78", "%79"
TK_WGMMA(144, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T7 "%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define TK_OUT(C) TK_D32(C, 0), TK_D32(C, 32), TK_D8(C, 64), TK_D8(C, 72)
#define TK_IN "%80", "%81", "%82", "%83", "%84", "%85", "%86", "%87"
TK_WGMMA(160, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T8 "%80,%81,%82,%83,%84,%85,%86,%87"
#define TK_OUT(C) TK_D32(C, 0), TK_D32(C, 32), TK_D8(C, 64), TK_D8(C, 72), TK_D8(C, 80)
#define TK_IN "%88", "%89", "%90", "%91", "%92", "%93", "%94", "%95"
TK_WGMMA(176, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T9 "%90,%91,%92,%93,%94,%95"
#define TK_OUT(C) TK_D32(C, 0), TK_D32(C, 32), TK_D32(C, 64)
#define TK_IN "%96", "%97", "%98", "%99", "%100", "%101", "%102", "%103"
TK_WGMMA(192, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T10 "%100,%101,%102,%103"
#define TK_OUT(C) TK_D32(C, 0), TK_D32(C, 32), TK_D32(C, 64), TK_D8(C, 96)
#define TK_IN "%104", "%105", "%106", "%107", "%108", "%109", "%110", "%111"
TK_WGMMA(208, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T11 "%110,%111"
#define TK_OUT(C) TK_D32(C, 0), TK_D32(C, 32), TK_D32(C, 64), TK_D8(C, 96), TK_D8(C, 104)
#define TK_IN "%112", "%113", "%114", "%115", "%116", "%117", "%118", "%119"
TK_WGMMA(224, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T11 "%110,%111,%112,%113,%114,%115,%116,%117,%118,%119"
#define TK_OUT(C) \
  TK_D32(C, 0), TK_D32(C, 32), TK_D32(C, 64), TK_D8(C, 96), TK_D8(C, 104), TK_D8(C, 112)
#define TK_IN "%120", "%121", "%122", "%123", "%124", "%125", "%126", "%127"
TK_WGMMA(240, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#define TK_REGS TK_T12 "%120,%121,%122,%123,%124,%125,%126,%127"
#define TK_OUT(C) TK_D32(C, 0), TK_D32(C, 32), TK_D32(C, 64), TK_D32(C, 96)
#define TK_IN "%128", "%129", "%130", "%131", "%132", "%133", "%134", "%135"
TK_WGMMA(256, TK_IN)
#undef TK_REGS
#undef TK_OUT
#undef TK_IN
#undef TK_WGMMA
#undef TK_WGMMA_OF
#undef TK_WGMMA_FP16
#undef TK_WGMMA_FP16_OF
#undef TK_WGMMA_RS
#undef TK_WGMMA_16
#undef TK_WGMMA_8
#undef TK_T1
#undef TK_T2
#undef TK_T3
#undef TK_T4
#undef TK_T5
#undef TK_T6
#undef TK_T7
#undef TK_T8
#undef TK_T9
#undef TK_T10
#undef TK_T11
#undef TK_T12
#undef TK_R10
#undef TK_D4
#undef TK_D8
#undef TK_D32

}  // namespace tk::be::ptx
