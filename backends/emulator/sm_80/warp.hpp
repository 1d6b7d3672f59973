// SPDX-License-Identifier: MIT
// The instructions that every NVIDIA backend uses, on the CPU: the same functions as
// backends/sm_80/warp.hpp, with the caller's source line for reports.
#pragma once
#include <cmath>
#include <cstring>

#include "backends/emulator/async_view.hpp"
#include "backends/emulator/emulator.hpp"
#include "backends/emulator/mbarrier.hpp"
#include "backends/emulator/omission.hpp"
#include "backends/emulator/widen.hpp"
#include "backends/select.hpp"
#include "core/element.hpp"

#include TK_CHIP(arch.hpp)

namespace tk::be::ptx {

using here = std::source_location;

// ---- where this lane is
TK_DEVICE int thread() { return emulator::thread_index(); }
TK_DEVICE int block() { return emulator::block_index(); }
TK_DEVICE int blocks() { return emulator::block_count(); }
// Dynamic shared memory of the block: 16-byte aligned and not more.
TK_DEVICE char* dynamic_smem() { return emulator::shared_memory(); }
TK_DEVICE std::uint32_t smem(void const* p, here where = here::current()) {
  return emulator::shared_address(p, where);
}
TK_DEVICE char* aligned_smem(std::uint32_t alignment) {
  auto const raw = reinterpret_cast<std::uintptr_t>(dynamic_smem());
  return dynamic_smem() + (alignment - raw % alignment) % alignment;
}

// ---- arithmetic; .ftz takes and gives zero for subnormal numbers
TK_DEVICE float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0 * x : x; }
TK_DEVICE float ex2(float x) { return flush(std::exp2(flush(x))); }
TK_DEVICE float subtract(float x, float y) { return subtract_rounded(x, y); }
TK_DEVICE float lg2(float x) { return flush(std::log2(flush(x))); }
TK_DEVICE float reciprocal(float x) { return flush(1 / flush(x)); }
TK_DEVICE float rsqrt(float x) { return flush(1 / std::sqrt(flush(x))); }
TK_DEVICE float max(float a, float b) { return std::fmax(a, b); }
TK_DEVICE float cos(float x) { return std::cos(x); }
TK_DEVICE float sin(float x) { return std::sin(x); }
// Two numbers rounded to nearest even, `lo` in the lower half.
template <class T> TK_DEVICE std::uint32_t pack_as(float lo, float hi) {
  return std::uint32_t{round_to<T>(hi).bits} << 16 | round_to<T>(lo).bits;
}
TK_DEVICE std::uint32_t pack(bf16, float lo, float hi) { return pack_as<bf16>(lo, hi); }
TK_DEVICE std::uint32_t pack(fp16, float lo, float hi) { return pack_as<fp16>(lo, hi); }
TK_DEVICE std::uint32_t pack(fp8_e4m3, float lo, float hi) {
  return std::uint32_t{round_to<fp8_e4m3>(hi).bits} << 8 | round_to<fp8_e4m3>(lo).bits;
}
TK_DEVICE std::uint32_t pack(fp8_e5m2, float lo, float hi) {
  auto const saturated = [](float x) -> std::uint32_t {
    std::uint32_t const y = round_to<fp8_e5m2>(x).bits;
    return (y & 0x7f) == 0x7c ? y - 1 : y;
  };
  return saturated(hi) << 8 | saturated(lo);
}
TK_DEVICE float widen(bf16 x) { return emulator::widen_bf16(x.bits); }
TK_DEVICE float widen(fp16 x) { return emulator::widen_fp16(x.bits); }
TK_DEVICE std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  return emulator::multiply_fp16x2(a, b);
}
TK_DEVICE std::uint32_t multiply_bf16x2(std::uint32_t a, std::uint32_t b) {
  return emulator::multiply_bf16x2(a, b);
}
TK_DEVICE std::uint32_t max_magnitudes_bf16x2(std::uint32_t a, std::uint32_t b) {
  return emulator::max_magnitudes<bf16>(a, b);
}
TK_DEVICE std::uint32_t max_magnitudes_fp16x2(std::uint32_t a, std::uint32_t b) {
  return emulator::max_magnitudes<fp16>(a, b);
}
TK_DEVICE std::uint32_t fma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return emulator::fma_fp16x2(a, b, c);
}
TK_DEVICE std::uint32_t fnma_fp16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return emulator::fma_fp16x2(a ^ 0x80008000, b, c);
}

// ---- memory
TK_DEVICE void write_16_bytes(void* dst, std::uint32_t const* x) { std::memcpy(dst, x, 16); }

TK_DEVICE void read_16_bytes_once(std::uint32_t* x, void const* src) { std::memcpy(x, src, 16); }

TK_DEVICE void prefetch(void const*) {}

TK_DEVICE int opaque(int x) { return x; }

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
TK_DEVICE float max_of_warp(float x, here where = here::current()) {
  for (int bit = 1; bit < 32; bit *= 2) x = std::fmax(x, shuffle_xor(x, bit, where));
  return x;
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
TK_DEVICE bool all(bool x, here where = here::current()) {
  emulator::collective(
      x,
      [](bool* const* lanes) {
        bool every = true;
        for (int l = 0; l < warp_lanes; ++l) every = every && *lanes[l];
        for (int l = 0; l < warp_lanes; ++l) *lanes[l] = every;
      },
      "vote", where);
  return x;
}
TK_DEVICE void warp_sync(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::sync_warp(where);
}
TK_DEVICE void sync_block(here where = here::current()) {
  if (!emulator::omitted(where)) emulator::sync_block(where);
}

// ---- barriers
TK_DEVICE void barrier_init(std::uint32_t bar, int arrivals, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::mbarrier_init(bar, arrivals, where);
}
TK_DEVICE void barrier_arrive(std::uint32_t bar, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::mbarrier_arrive(bar, where);
}
TK_DEVICE bool barrier_test(std::uint32_t bar, int phase, here where = here::current()) {
  return emulator::omitted(where) || emulator::mbarrier_test(bar, phase, where);
}
TK_DEVICE void named_sync(int id, int threads, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::named_sync(id, threads, where);
}
TK_DEVICE void named_arrive(int id, int threads, here where = here::current()) {
  if (!emulator::omitted(where)) emulator::named_arrive(id, threads, where);
}

// ---- between blocks
TK_DEVICE unsigned load_acquire(unsigned const* p, here where = here::current()) {
  return emulator::omitted(where) ? ~0u : emulator::poll(p, where);
}
// Orders what depends on it, as on the chip.
TK_DEVICE unsigned load_relaxed(unsigned const* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
TK_DEVICE void add_release(unsigned* p, unsigned x, here where = here::current()) {
  if (!emulator::omitted(where)) __atomic_fetch_add(p, x, __ATOMIC_RELEASE);
}
// The old value of *p; p counts up to `last` and then starts again at 0.
TK_DEVICE unsigned next_ticket(unsigned* p, unsigned last) {
  unsigned old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, old >= last ? 0 : old + 1, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {}
  return old;
}

// ---- within a block: the old value of *p, in shared memory
TK_DEVICE unsigned add_shared(unsigned* p, unsigned x) {
  return __atomic_fetch_add(p, x, __ATOMIC_RELAXED);
}

// ---- matrices of 8 x 8
TK_DEVICE void ldmatrix(std::uint32_t src, std::uint32_t& a, std::uint32_t& b, std::uint32_t& c,
                        std::uint32_t& d, here where = here::current()) {
  emulator::ldmatrix(src, a, b, c, d, where);
}
TK_DEVICE void ldmatrix_transposed(std::uint32_t src, std::uint32_t& a, std::uint32_t& b,
                                   std::uint32_t& c, std::uint32_t& d,
                                   here where = here::current()) {
  emulator::ldmatrix_transposed(src, a, b, c, d, where);
}

}  // namespace tk::be::ptx
