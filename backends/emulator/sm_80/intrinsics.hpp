// SPDX-License-Identifier: MIT
// The instructions of sm_80, sm_86 and sm_89 on the CPU: the same functions as
// backends/sm_80/intrinsics.hpp, with the caller's source line for reports.
#pragma once
#include "backends/emulator/async_copy.hpp"
#include "backends/emulator/sm_80/warp.hpp"
#include "backends/emulator/warp_mma.hpp"

namespace tk::be::ptx {

// ---- warp
TK_DEVICE unsigned ballot(bool x, here where = here::current()) {
  unsigned bits = x;
  emulator::collective(
      bits,
      [](unsigned* const* lanes) {
        unsigned every = 0;
        for (int l = 0; l < warp_lanes; ++l) every |= *lanes[l] << l;
        for (int l = 0; l < warp_lanes; ++l) *lanes[l] = every;
      },
      "vote", where);
  return bits;
}
TK_DEVICE int first_bit(unsigned x) { return __builtin_ctz(x); }
TK_DEVICE char const* shuffle(char const* p, int lane, here where = here::current()) {
  struct {
    char const *mine, *theirs;
    int lane;
  } x{p, nullptr, lane};
  emulator::collective(
      x,
      [](decltype(x)* const* lanes) {
        for (int l = 0; l < warp_lanes; ++l) lanes[l]->theirs = lanes[lanes[l]->lane]->mine;
      },
      "shuffle", where);
  return x.theirs;
}

// ---- mbarrier
TK_DEVICE void barrier_wait(std::uint32_t bar, int phase, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::mbarrier_wait(bar, phase, where);
}

// ---- copies from global to shared memory
template <int Bytes>
TK_DEVICE void copy_async(std::uint32_t dst, void const* src, here where = here::current()) {
  emulator::copy_async(dst, src, Bytes, Bytes, where);
}
template <int Bytes>
TK_DEVICE void copy_async(std::uint32_t dst, void const* src, int inside,
                          here where = here::current()) {
  emulator::copy_async(dst, src, Bytes, inside, where);
}
TK_DEVICE void copy_arrive(std::uint32_t bar, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::copy_arrive(bar, where);
}
TK_DEVICE void copy_commit(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::copy_commit();
}
template <int N> TK_DEVICE void copy_wait_group(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::copy_wait_group(N);
}
TK_DEVICE void copy_wait(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::copy_wait_all();
}

// ---- atomics
TK_DEVICE void add_to_global(float* dst, float x) { emulator::atomic_add(dst, x); }
TK_DEVICE void add_to_global(float* dst, float a, float b, float c, float d) {
  float const x[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) emulator::atomic_add(dst + i, x[i]);
}

// ---- products
// d[16, 8] = a[16, k] b[k, 8] (+ d), k = 16, or 32 for fp8, which not every chip has.
template <class A, class B>
  requires(sizeof(A) == 2 || has_fp8)
TK_DEVICE void mma(A, B, float* d, std::uint32_t const* a, std::uint32_t b0, std::uint32_t b1,
                   bool keep, here where = here::current()) {
  if (!keep)
    for (int r = 0; r < 4; ++r) d[r] = 0;
  emulator::mma_m16n8<A, B>(d, a, b0, b1, where);
}

}  // namespace tk::be::ptx
