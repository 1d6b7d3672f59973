// SPDX-License-Identifier: MIT
// The instructions of gfx942 on the CPU: the same functions as backends/hip/intrinsics.hpp, with
// the caller's source line for reports. MFMA and shuffles are collectives of 64 lanes; a copy to
// LDS arrives when it is waited for; LDS is the emulator's shared memory.
#pragma once
#include <cmath>
#include <cstring>

#include "backends/emulator/emulator.hpp"
#include "backends/hip/arch.hpp"
#include "core/element.hpp"

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
TK_DEVICE int opaque(int x) { return x; }
template <class Args> TK_DEVICE Args const& reread(Args const& a) { return a; }
// The block's LDS, as a T.
template <class T> TK_DEVICE T& lds() { return *reinterpret_cast<T*>(emulator::shared_memory()); }

// ---- arithmetic; subnormal numbers are taken and given as zero
TK_DEVICE float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0 * x : x; }
TK_DEVICE float exp2(float x) { return flush(std::exp2(flush(x))); }
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
TK_DEVICE std::uint16_t to_fp16(float x) { return round_to<fp16>(x).bits; }
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
TK_DEVICE void sync_wave(here where = here::current()) { emulator::sync_warp(where); }
TK_DEVICE void sync_block(here where = here::current()) { emulator::sync_block(where); }

// ---- global memory to LDS
// Lane l copies four bytes from an address of its own to dst + 4 l, where dst is the same in the
// whole wave; a lane without an address gets zero.
TK_DEVICE void copy_to_lds(char* dst, void const* from, here where = here::current()) {
  char* const to = dst + 4 * lane();
  static_cast<void>(emulator::shared_address(to, where));
  if (reinterpret_cast<std::uintptr_t>(from) % 4 != 0)
    emulator::fail("a copy to LDS from an address that is no multiple of 4", where);
  emulator::later([to, from] {
    if (from) std::memcpy(to, from, 4);
    else std::memset(to, 0, 4);
  });
}
TK_DEVICE void copy_to_lds(char* dst, char const* from, std::uint32_t offset,
                           here where = here::current()) {
  if (offset >> 31) emulator::fail("a copy to LDS with an offset of 2^31 or more", where);
  copy_to_lds(dst, from + offset, where);
}
// Until at most N of this wave's later accesses to global memory, copies among them, are running:
// its plain accesses are over at once.
template <int N> TK_DEVICE void wait_copies(here where = here::current()) {
  static_assert(N >= 0 && N < 64, "vmcnt has six bits");
  emulator::wait_later(N);
  emulator::sync_warp(where);
}

// ---- atomics
// The old value of *p; p counts up to `last` and then starts again at 0.
TK_DEVICE unsigned next_ticket(unsigned* p, unsigned last) {
  unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, old >= last ? 0 : old + 1, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {}
  return old;
}
TK_DEVICE unsigned load_acquire(unsigned const* p, here where = here::current()) {
  return emulator::poll(p, where);
}
TK_DEVICE void add_release(unsigned* p, unsigned x) { __atomic_fetch_add(p, x, __ATOMIC_RELEASE); }
TK_DEVICE void add_to_global(float* p, float x) { emulator::atomic_add(p, x); }

// ---- MFMA of M = 16 or 32. Lane l holds of A row l % M, of B column l % M, both with the four k
// from 4 (l / M) on; of D column l % M and the rows 4 (l / M) + r / 4 * 256 / M + r % 4.
struct four {
  std::uint32_t w[2];
};
typedef float sums16 __attribute__((vector_size(16)));
typedef float sums32 __attribute__((vector_size(64)));

template <int M, class T, class Sums> TK_DEVICE Sums run_mfma(four a, four b, Sums d, here where) {
  struct {
    four a, b;
    float d[M * M / 64];
  } op{a, b, {}};
  for (int r = 0; r < M * M / 64; ++r) op.d[r] = d[r];
  emulator::collective(
      op,
      [](auto* const* lanes) {
        constexpr int K = 256 / M;
        float left[M][K], right[K][M];
        for (int l = 0; l < warp_lanes; ++l)
          for (int e = 0; e < 4; ++e) {
            auto const value = [&](four const& x) {
              return tk::widen(T{static_cast<std::uint16_t>(x.w[e / 2] >> e % 2 * 16)});
            };
            left[l % M][l / M * 4 + e] = value(lanes[l]->a);
            right[l / M * 4 + e][l % M] = value(lanes[l]->b);
          }
        for (int l = 0; l < warp_lanes; ++l)
          for (int r = 0; r < M * M / 64; ++r) {
            float const* const row = left[4 * (l / M) + r / 4 * (256 / M) + r % 4];
            float sum = lanes[l]->d[r];
            for (int k = 0; k < K; ++k) sum += row[k] * right[k][l % M];
            lanes[l]->d[r] = sum;
          }
      },
      M == 16 ? "mfma 16x16x16" : "mfma 32x32x8", where);
  for (int r = 0; r < M * M / 64; ++r) d[r] = op.d[r];
  return d;
}
template <class T>
TK_DEVICE sums16 mfma(T, four a, four b, sums16 d, here where = here::current()) {
  return run_mfma<16, T>(a, b, d, where);
}
template <class T>
TK_DEVICE sums32 mfma(T, four a, four b, sums32 d, here where = here::current()) {
  return run_mfma<32, T>(a, b, d, where);
}

}  // namespace tk::be::gcn
