// SPDX-License-Identifier: MIT
// The instructions of gfx942 that the backend uses, one function each (AMD Instinct MI300 ISA), and
// where a lane is. LDS is reached through ordinary pointers. The emulator replaces this file as a
// whole.
#pragma once
#include <bit>

#include "backends/hip/arch.hpp"
#include "core/element.hpp"

namespace tk::be::gcn {

// ---- where this lane is
TK_DEVICE int thread() { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
TK_DEVICE int block() { return static_cast<int>(__builtin_amdgcn_workgroup_id_x()); }
TK_DEVICE int lane() { return static_cast<int>(__builtin_amdgcn_workitem_id_x() % warp_lanes); }
// The value of the first lane, known to the compiler as the same in the whole wave.
TK_DEVICE int broadcast(int x) { return __builtin_amdgcn_readfirstlane(x); }
// x, of which the compiler knows no more than that it is the same in the whole wave: what follows
// from it is computed here, and not kept in registers from before a loop.
TK_DEVICE int opaque(int x) {
  asm volatile("" : "+s"(x));
  return x;
}
// The kernel's first parameter, read again from memory where it is used: the compiler does not know
// that it is still the same, and keeps nothing of it in registers from before.
template <class Args> TK_DEVICE Args const& reread(Args const&) {
  using constant = Args const __attribute__((address_space(4)))*;
  auto p = (constant)__builtin_amdgcn_kernarg_segment_ptr();
  asm volatile("" : "+s"(p));
  return *(Args const*)p;
}
// The block's LDS, as a T.
template <class T> TK_DEVICE T& lds() {
  __attribute__((shared)) static char bytes[sizeof(T)] __attribute__((aligned(alignof(T))));
  return *reinterpret_cast<T*>(bytes);
}

// ---- arithmetic
TK_DEVICE float exp2(float x) { return __builtin_amdgcn_exp2f(x); }
TK_DEVICE float log2(float x) { return __builtin_amdgcn_logf(x); }
TK_DEVICE float reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
TK_DEVICE float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
TK_DEVICE float max(float a, float b) { return __builtin_fmaxf(a, b); }
TK_DEVICE float min(float a, float b) { return __builtin_fminf(a, b); }
// Four bytes of high : low, chosen by the bytes of `which` (0 to 3 are those of low).
TK_DEVICE std::uint32_t permute(std::uint32_t high, std::uint32_t low, std::uint32_t which) {
  return __builtin_amdgcn_perm(high, low, which);
}
TK_DEVICE std::uint16_t to_fp16(float x) {
  return __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(x));
}
TK_DEVICE float from_fp16(std::uint16_t x) {
  return static_cast<float>(__builtin_bit_cast(_Float16, x));
}

// ---- wave and block
TK_DEVICE float shuffle_xor(float x, int mask) {
  return __builtin_bit_cast(
      float, __builtin_amdgcn_ds_bpermute((lane() ^ mask) * 4, __builtin_bit_cast(int, x)));
}
// Orders this wave's accesses to memory: lanes may read what others stored.
TK_DEVICE void sync_wave() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}
TK_DEVICE void sync_block() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// ---- global memory to LDS
// Lane l copies four bytes from `from` + its own `offset` (below 2^31) to dst + 4 l; dst and `from`
// are the same in the whole wave. In assembly, because after the builtin every read of LDS waits
// for all copies (clang 22). The low half of a pointer into LDS is the address there; M0 takes it,
// one instruction ahead. `from` goes through a scalar move: vector memory may not read a scalar
// register within five states of a vector instruction that wrote it, and compilers do not look into
// assembly (MI300 ISA, 4.5, "Manually inserted wait states").
TK_DEVICE void copy_to_lds(char* dst, char const* from, std::uint32_t offset) {
  auto const to = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(dst));
  char const* base;
  asm volatile("s_mov_b64 %0, %2\n\tglobal_load_lds_dword %1, %0"
               : "=&s"(base)
               : "v"(offset), "s"(from), "{m0}"(to)
               : "memory");
}
// The same from an address of the lane's own; a lane without one gets zero.
TK_DEVICE void copy_to_lds(char* dst, void const* from) {
  __attribute__((constant)) static std::uint32_t const zero = 0;
  auto const to = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(dst));
  asm volatile("s_nop 0\n\tglobal_load_lds_dword %0, off" ::"v"(from ? from : &zero), "{m0}"(to)
               : "memory");
}
// Until at most N of this wave's later accesses to global memory, copies among them, are running.
template <int N> TK_DEVICE void wait_copies() {
  static_assert(N >= 0 && N < 64, "vmcnt has six bits");
  asm volatile("s_waitcnt vmcnt(%0)" ::"n"(N) : "memory");
}

// ---- atomics
// The old value of *p; p counts up to `last` and then starts again at 0.
TK_DEVICE unsigned next_ticket(unsigned* p, unsigned last) {
  return __builtin_amdgcn_atomic_inc32(p, last, __ATOMIC_RELAXED, "agent");
}
TK_DEVICE unsigned load_acquire(unsigned const* p) {
  return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
TK_DEVICE void add_release(unsigned* p, unsigned x) {
  __hip_atomic_fetch_add(p, x, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
TK_DEVICE void add_to_global(float* p, float x) {
  __hip_atomic_fetch_add(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// ---- MFMA of M = 16 or 32. Lane l holds of A row l % M, of B column l % M, both with the four k
// from 4 (l / M) on; of D column l % M and the rows 4 (l / M) + r / 4 * 256 / M + r % 4.
struct four {
  std::uint32_t w[2];
};
typedef float sums16 __attribute__((ext_vector_type(4)));
typedef float sums32 __attribute__((ext_vector_type(16)));
typedef short four_bf16 __attribute__((ext_vector_type(4)));
typedef _Float16 four_fp16 __attribute__((ext_vector_type(4)));

TK_DEVICE sums16 mfma(bf16, four a, four b, sums16 d) {
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(four_bf16, a),
                                                   __builtin_bit_cast(four_bf16, b), d, 0, 0, 0);
}
TK_DEVICE sums16 mfma(fp16, four a, four b, sums16 d) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(four_fp16, a),
                                               __builtin_bit_cast(four_fp16, b), d, 0, 0, 0);
}
TK_DEVICE sums32 mfma(bf16, four a, four b, sums32 d) {
  return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(__builtin_bit_cast(four_bf16, a),
                                                  __builtin_bit_cast(four_bf16, b), d, 0, 0, 0);
}
TK_DEVICE sums32 mfma(fp16, four a, four b, sums32 d) {
  return __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(four_fp16, a),
                                              __builtin_bit_cast(four_fp16, b), d, 0, 0, 0);
}

}  // namespace tk::be::gcn
