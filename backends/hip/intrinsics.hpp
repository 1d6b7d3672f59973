// SPDX-License-Identifier: MIT
// The instructions that the backend uses, one function each (AMD Instinct MI200, MI300 and CDNA 4
// ISA), and where a lane is. What not every chip has asks for a capability (arch.hpp). LDS is
// reached through ordinary pointers. The emulator replaces this file as a whole.
#pragma once
#include <bit>
#include <type_traits>

#include "backends/hip/arch.hpp"
#include "core/element.hpp"

namespace tk::be::gcn {

// ---- where this lane is
TK_DEVICE int thread() { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
TK_DEVICE int block() { return static_cast<int>(__builtin_amdgcn_workgroup_id_x()); }
TK_DEVICE int lane() { return static_cast<int>(__builtin_amdgcn_workitem_id_x() % warp_lanes); }
// The value of the first lane, known to the compiler as the same in the whole wave.
TK_DEVICE int broadcast(int x) { return __builtin_amdgcn_readfirstlane(x); }
// A struct that is the same in the whole wave, said to the compiler: it divides in vector
// registers, and takes what comes of 64-bit divisions for different in each lane (clang 22).
template <class X>
  requires(sizeof(X) % 4 == 0)
TK_DEVICE X uniform(X const& x) {
  struct words {
    int w[sizeof(X) / 4];
  };
  auto y = std::bit_cast<words>(x);
  TK_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(X) / 4); ++i) y.w[i] = broadcast(y.w[i]);
  return std::bit_cast<X>(y);
}
// x, of which the compiler knows no more than that it is the same in the whole wave: what follows
// from it is computed here, and not kept in registers from before a loop.
TK_DEVICE int opaque(int x) {
  x = broadcast(x);  // what was divided lies in a vector register
  asm volatile("" : "+s"(x));
  return x;
}
// The same of what each lane has of its own.
TK_DEVICE int opaque_in_lane(int x) {
  asm volatile("" : "+v"(x));
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
// Of turns.
TK_DEVICE float cos(float x) { return __builtin_amdgcn_cosf(x); }
TK_DEVICE float sin(float x) { return __builtin_amdgcn_sinf(x); }
// x - y, not fused with the product that x may be.
TK_DEVICE float subtract(float x, float y) {
  asm("" : "+v"(x));
  return x - y;
}
TK_DEVICE float log2(float x) { return __builtin_amdgcn_logf(x); }
TK_DEVICE float reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
TK_DEVICE float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
TK_DEVICE float max(float a, float b) { return __builtin_fmaxf(a, b); }
TK_DEVICE float min(float a, float b) { return __builtin_fminf(a, b); }
// Four bytes of high : low, chosen by the bytes of `which` (0 to 3 are those of low).
TK_DEVICE std::uint32_t permute(std::uint32_t high, std::uint32_t low, std::uint32_t which) {
  return __builtin_amdgcn_perm(high, low, which);
}
TK_DEVICE float from_fp16(std::uint16_t x) {
  return static_cast<float>(__builtin_bit_cast(_Float16, x));
}

// ---- wave and block
TK_DEVICE float shuffle_xor(float x, int mask) {
  return __builtin_bit_cast(
      float, __builtin_amdgcn_ds_bpermute((lane() ^ mask) * 4, __builtin_bit_cast(int, x)));
}
TK_DEVICE std::uint32_t shuffle_before(std::uint32_t x, int lanes) {
  int const from = lane() / lanes * lanes + (lane() + lanes - 1) % lanes;
  return static_cast<std::uint32_t>(__builtin_amdgcn_ds_bpermute(from * 4, static_cast<int>(x)));
}
TK_DEVICE bool any(bool x) { return __builtin_amdgcn_ballot_w64(x) != 0; }
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
// Lane l copies Bytes bytes from `from` + its own `offset` (below 2^31) to dst + Bytes l; dst and
// `from` are the same in the whole wave. In assembly, because after the builtin every read of LDS
// waits for all copies (clang 22). The low half of a pointer into LDS is the address there; M0
// takes it, one instruction ahead. Vector memory may not read a scalar register, as `from` is in,
// within five states of a vector instruction that wrote it, and compilers do not look into assembly
// (MI300 ISA, 4.5, "Manually inserted wait states").
template <int Bytes>
concept copy_width = Bytes == 4 || Bytes == copy_lane_bytes;

template <int Bytes>
  requires copy_width<Bytes>
TK_DEVICE void copy_to_lds(char* dst, char const* from, std::uint32_t offset) {
  auto const to = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(dst));
  char const* const base = uniform(from);  // what was divided lies in vector registers (clang 22)
#define TK_COPY(INSTRUCTION, LDS)                                                           \
  asm volatile("s_nop 4\n\t" INSTRUCTION " %0, %1" LDS ::"v"(offset), "s"(base), "{m0}"(to) \
               : "memory")
  if constexpr (Bytes == 16) TK_COPY("global_load_lds_dwordx4", "");
  else if constexpr (copy_is_load) TK_COPY("global_load_dword", " lds");
  else TK_COPY("global_load_lds_dword", "");
#undef TK_COPY
}
// The same from an address of the lane's own; a lane without one gets zero.
template <int Bytes>
  requires copy_width<Bytes>
TK_DEVICE void copy_to_lds(char* dst, void const* from) {
  __attribute__((constant)) alignas(16) static std::uint32_t const zero[4] = {};
  auto const to = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(dst));
#define TK_COPY(INSTRUCTION, LDS)                                                             \
  asm volatile("s_nop 0\n\t" INSTRUCTION " %0, off" LDS ::"v"(from ? from : zero), "{m0}"(to) \
               : "memory")
  if constexpr (Bytes == 16) TK_COPY("global_load_lds_dwordx4", "");
  else if constexpr (copy_is_load) TK_COPY("global_load_dword", " lds");
  else TK_COPY("global_load_lds_dword", "");
#undef TK_COPY
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
// The old value of *p, in LDS.
TK_DEVICE unsigned add_shared(unsigned* p, unsigned x) {
  return __hip_atomic_fetch_add(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
TK_DEVICE void add_shared_release(unsigned* p, unsigned x) {
  __hip_atomic_fetch_add(p, x, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
}
TK_DEVICE unsigned load_shared_acquire(unsigned const* p) {
  return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP);
}
TK_DEVICE unsigned load_acquire(unsigned const* p) {
  return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
TK_DEVICE void add_release(unsigned* p, unsigned x) {
  __hip_atomic_fetch_add(p, x, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
// By the instruction, which is for memory of this card only. For the generic builtin gfx90a makes a
// loop of exchanges, because the memory might be the host's (clang 22).
TK_DEVICE void add_to_global(float* p, float x) {
  __builtin_amdgcn_global_atomic_fadd_f32((__attribute__((address_space(1))) float*)p, x);
}

// ---- numbers of 16 bits, in pairs and as operands
template <int N> struct halves {
  std::uint32_t w[N / 2];
};
typedef _Float16 two_fp16 __attribute__((ext_vector_type(2)));
typedef __bf16 two_bf16 __attribute__((ext_vector_type(2)));
typedef float two_fp32 __attribute__((ext_vector_type(2)));
typedef short four_bits __attribute__((ext_vector_type(4)));
typedef _Float16 four_fp16 __attribute__((ext_vector_type(4)));
typedef __bf16 eight_bf16 __attribute__((ext_vector_type(8)));
typedef _Float16 eight_fp16 __attribute__((ext_vector_type(8)));

// Rounded to nearest even.
TK_DEVICE std::uint32_t pack_fp16(float lo, float hi) {
  return __builtin_bit_cast(std::uint32_t, __builtin_convertvector((two_fp32{lo, hi}), two_fp16));
}
TK_DEVICE std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  return __builtin_bit_cast(std::uint32_t,
                            __builtin_bit_cast(two_fp16, a) * __builtin_bit_cast(two_fp16, b));
}
TK_DEVICE std::uint32_t fma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return __builtin_bit_cast(
      std::uint32_t,
      __builtin_elementwise_fma(__builtin_bit_cast(two_fp16, a), __builtin_bit_cast(two_fp16, b),
                                __builtin_bit_cast(two_fp16, c)));
}
template <bool There = has_bf16_pack>
  requires There
TK_DEVICE std::uint32_t pack_bf16(float lo, float hi) {
  return __builtin_bit_cast(std::uint32_t, __builtin_convertvector((two_fp32{lo, hi}), two_bf16));
}
// Four numbers from LDS at each lane's address, exchanged among 16 lanes: lane i gets element i % 4
// of what lanes i / 4, i / 4 + 4, + 8 and + 12 of the 16 name (ds_read_b64_tr_b16; CDNA 4
// ISA, 11.4).
template <bool There = has_transposed_reads>
  requires There
TK_DEVICE halves<4> read_transposed(char const* p) {
  return __builtin_bit_cast(halves<4>, __builtin_amdgcn_ds_read_tr16_b64_v4i16(
                                           (__attribute__((address_space(3))) four_bits*)p));
}

// ---- MFMA of M = 16 or 32, with N = 4 or 8. Lane l holds of A row l % M, of B column l % M, both
// with the N k from N (l / M) on; of D column l % M and the rows 4 (l / M) + r / 4 * 256 / M + r
// % 4.
typedef float sums16 __attribute__((ext_vector_type(4)));
typedef float sums32 __attribute__((ext_vector_type(16)));

template <class T, int N, class Sums>
  requires(N == 4 || N == mfma_run)
TK_DEVICE Sums mfma(T, halves<N> a, halves<N> b, Sums d) {
  constexpr bool small = sizeof(Sums) == sizeof(sums16), is_bf16 = std::is_same_v<T, bf16>;
#define TK_MFMA(NAME, TYPE) \
  return NAME(__builtin_bit_cast(TYPE, a), __builtin_bit_cast(TYPE, b), d, 0, 0, 0)
  if constexpr (N == 4 && small && is_bf16)
    TK_MFMA(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k, four_bits);
  else if constexpr (N == 4 && small) TK_MFMA(__builtin_amdgcn_mfma_f32_16x16x16f16, four_fp16);
  else if constexpr (N == 4 && is_bf16)
    TK_MFMA(__builtin_amdgcn_mfma_f32_32x32x8bf16_1k, four_bits);
  else if constexpr (N == 4) TK_MFMA(__builtin_amdgcn_mfma_f32_32x32x8f16, four_fp16);
  else if constexpr (small && is_bf16) TK_MFMA(__builtin_amdgcn_mfma_f32_16x16x32_bf16, eight_bf16);
  else if constexpr (small) TK_MFMA(__builtin_amdgcn_mfma_f32_16x16x32_f16, eight_fp16);
  else if constexpr (is_bf16) TK_MFMA(__builtin_amdgcn_mfma_f32_32x32x16_bf16, eight_bf16);
  else TK_MFMA(__builtin_amdgcn_mfma_f32_32x32x16_f16, eight_fp16);
#undef TK_MFMA
}

}  // namespace tk::be::gcn
