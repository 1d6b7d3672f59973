// SPDX-License-Identifier: MIT
// The instructions of these chips on the CPU: the same functions as backends/hip/intrinsics.hpp,
// each on the chips that have it, with the caller's source line for reports. MFMA and shuffles are
// collectives of 64 lanes; a copy to LDS arrives when it is waited for; LDS is the emulator's
// shared memory.
#pragma once
#include <cmath>
#include <cstring>

#include "backends/emulator/agreement.hpp"
#include "backends/emulator/mfma.hpp"
#include "backends/emulator/omission.hpp"
#include "backends/emulator/widen.hpp"
#include "backends/hip/arch.hpp"

namespace tk::be::gcn {

using here = std::source_location;

// ---- where this lane is
TK_DEVICE int thread() { return emulator::thread_index(); }
TK_DEVICE int block() { return emulator::block_index(); }
TK_DEVICE int lane() { return emulator::lane_index(); }
// The value of the first lane.
TK_DEVICE int broadcast(int x, here where = here::current()) {
  emulator::collective(
      x,
      [](int* const* lanes) {
        for (int l = 1; l < warp_lanes; ++l) *lanes[l] = *lanes[0];
      },
      "broadcast", where);
  return x;
}
// A struct that is the same in the whole wave.
template <class X>
  requires(sizeof(X) % 4 == 0)
TK_DEVICE X uniform(X const& x, here where = here::current()) {
  std::uint32_t words[sizeof(X) / 4];
  std::memcpy(words, &x, sizeof x);
  for (std::uint32_t word : words) emulator::agree(word, "a uniform struct", where);
  return x;
}
TK_DEVICE int opaque(int x) { return x; }
TK_DEVICE int opaque_in_lane(int x) { return x; }
template <class Args> TK_DEVICE Args const& reread(Args const& a) { return a; }
// The block's LDS, as a T.
template <class T> TK_DEVICE T& lds() { return *reinterpret_cast<T*>(emulator::shared_memory()); }

// ---- arithmetic; subnormal numbers are taken and given as zero
TK_DEVICE float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0 * x : x; }
TK_DEVICE float exp2(float x) { return flush(std::exp2(flush(x))); }
TK_DEVICE float cos(float x) { return std::cos(6.2831853f * x); }
TK_DEVICE float sin(float x) { return std::sin(6.2831853f * x); }
TK_DEVICE float subtract(float x, float y) { return subtract_rounded(x, y); }
TK_DEVICE float log2(float x) { return flush(std::log2(flush(x))); }
TK_DEVICE float reciprocal(float x) { return flush(1 / flush(x)); }
TK_DEVICE float rsqrt(float x) { return flush(1 / std::sqrt(flush(x))); }
TK_DEVICE float max(float a, float b) { return std::fmax(a, b); }
TK_DEVICE float min(float a, float b) { return std::fmin(a, b); }
// Four bytes of high : low, chosen by the bytes of `which` (0 to 3 are those of low).
TK_DEVICE std::uint32_t permute(std::uint32_t high, std::uint32_t low, std::uint32_t which) {
  std::uint64_t const bytes = std::uint64_t{high} << 32 | low;
  std::uint32_t y = 0;
  for (int i = 0; i < 4; ++i)
    y |= static_cast<std::uint32_t>(bytes >> 8 * (which >> 8 * i & 7) & 0xff) << 8 * i;
  return y;
}
TK_DEVICE float from_fp16(std::uint16_t x) { return tk::widen(fp16{x}); }

// ---- wave and block
TK_DEVICE float shuffle_xor(float x, int mask, here where = here::current()) {
  struct {
    float mine, theirs;
    int mask;
  } op{x, 0, mask};
  emulator::collective(
      op,
      [](auto* const* lanes) {
        for (int l = 0; l < warp_lanes; ++l)
          lanes[l]->theirs = lanes[(l ^ lanes[l]->mask) & 63]->mine;
      },
      "shuffle", where);
  return op.theirs;
}
TK_DEVICE std::uint32_t shuffle_before(std::uint32_t x, int lanes, here where = here::current()) {
  struct {
    std::uint32_t mine, theirs;
    int lanes;
  } op{x, 0, lanes};
  emulator::collective(
      op,
      [](auto* const* all) {
        for (int l = 0; l < warp_lanes; ++l) {
          int const n = all[l]->lanes;
          all[l]->theirs = all[l / n * n + (l + n - 1) % n]->mine;
        }
      },
      "shuffle", where);
  return op.theirs;
}
TK_DEVICE bool any(bool x, here where = here::current()) {
  emulator::collective(
      x,
      [](bool* const* lanes) {
        bool some = false;
        for (int l = 0; l < warp_lanes; ++l) some = some || *lanes[l];
        for (int l = 0; l < warp_lanes; ++l) *lanes[l] = some;
      },
      "vote", where);
  return x;
}
TK_DEVICE void sync_wave(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::sync_warp(where);
}
TK_DEVICE void sync_block(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::sync_block(where);
}

// ---- global memory to LDS
template <int Bytes>
concept copy_width = Bytes == 4 || Bytes == copy_lane_bytes;

// Lane l copies Bytes bytes from an address of its own to dst + Bytes l, where dst is the same in
// the whole wave; a lane without an address gets zero. Both are multiples of Bytes: more than what
// is known of the hardware's wide copies allows.
template <int Bytes>
  requires copy_width<Bytes>
TK_DEVICE void copy_to_lds(char* dst, void const* from, here where = here::current()) {
  char* const to = dst + Bytes * lane();
  emulator::agree(reinterpret_cast<std::uintptr_t>(dst), "where a copy to LDS goes", where);
  if (emulator::shared_address(to, where) % Bytes != 0)
    emulator::fail("a copy to an address in LDS that is no multiple of its size", where);
  if (reinterpret_cast<std::uintptr_t>(from) % Bytes != 0)
    emulator::fail("a copy to LDS from an address that is no multiple of its size", where);
  std::memset(to, 0xff, Bytes);  // until it arrives, at a time of its own
  emulator::later([to, from] {
    if (from) std::memcpy(to, from, Bytes);
    else std::memset(to, 0, Bytes);
  });
}
template <int Bytes>
  requires copy_width<Bytes>
TK_DEVICE void copy_to_lds(char* dst, char const* from, std::uint32_t offset,
                           here where = here::current()) {
  if (offset >> 31) emulator::fail("a copy to LDS with an offset of 2^31 or more", where);
  emulator::agree(reinterpret_cast<std::uintptr_t>(from), "the base of a copy to LDS", where);
  copy_to_lds<Bytes>(dst, static_cast<void const*>(from + offset), where);
}
// Until at most N of this wave's later accesses to global memory, copies among them, are running:
// its plain accesses are over at once. Orders no memory among lanes.
template <int N> TK_DEVICE void wait_copies(here where = here::current()) {
  static_assert(N >= 0 && N < 64, "vmcnt has six bits");
  if (emulator::omitted(where)) return;
  emulator::wait_later(N);
  int nothing = 0;
  emulator::collective(nothing, [](int* const*) {}, "wait for copies", where);
}

// ---- atomics
// The old value of *p; p counts up to `last` and then starts again at 0.
TK_DEVICE unsigned next_ticket(unsigned* p, unsigned last) {
  unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, old >= last ? 0 : old + 1, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {}
  return old;
}
TK_DEVICE unsigned add_shared(unsigned* p, unsigned x) {
  return __atomic_fetch_add(p, x, __ATOMIC_RELAXED);
}
TK_DEVICE void add_shared_release(unsigned* p, unsigned x) {
  __atomic_fetch_add(p, x, __ATOMIC_RELEASE);
}
TK_DEVICE unsigned load_shared_acquire(unsigned const* p, here where = here::current()) {
  return emulator::poll(p, where);
}
TK_DEVICE unsigned load_acquire(unsigned const* p, here where = here::current()) {
  return emulator::omitted(where) ? ~0u : emulator::poll(p, where);
}
TK_DEVICE void add_release(unsigned* p, unsigned x, here where = here::current()) {
  if (!emulator::omitted(where)) __atomic_fetch_add(p, x, __ATOMIC_RELEASE);
}
TK_DEVICE void add_to_global(float* p, float x) { emulator::atomic_add(p, x); }

// ---- numbers of 16 bits, in pairs and as operands (backends/emulator/mfma.hpp)
template <int N> struct halves {
  std::uint32_t w[N / 2];
};
typedef float sums16 __attribute__((vector_size(16)));
typedef float sums32 __attribute__((vector_size(64)));

TK_DEVICE std::uint32_t pack_fp16(float lo, float hi) {
  return std::uint32_t{round_to<fp16>(hi).bits} << 16 | round_to<fp16>(lo).bits;
}
TK_DEVICE std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  return emulator::multiply_fp16x2(a, b);
}
TK_DEVICE std::uint32_t fma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return emulator::fma_fp16x2(a, b, c);
}
template <bool There = has_bf16_pack>
  requires There
TK_DEVICE std::uint32_t pack_bf16(float lo, float hi) {
  return std::uint32_t{round_to<bf16>(hi).bits} << 16 | round_to<bf16>(lo).bits;
}
template <bool There = has_transposed_reads>
  requires There
TK_DEVICE halves<4> read_transposed(char const* p, here where = here::current()) {
  return emulator::read_transposed<halves<4>>(p, where);
}
template <class T, int N, class Sums>
  requires(N == 4 || N == mfma_run)
TK_DEVICE Sums mfma(T, halves<N> a, halves<N> b, Sums d, here where = here::current()) {
  return emulator::mfma < sizeof(Sums) == sizeof(sums16) ? 16 : 32, T > (a, b, d, where);
}

}  // namespace tk::be::gcn
