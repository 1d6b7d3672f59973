// SPDX-License-Identifier: MIT
// The instructions of sm_80, sm_86 and sm_89 on the CPU: the same functions as
// backends/sm_80/intrinsics.hpp, with the caller's source line for reports.
#pragma once
#include "backends/emulator/async_copy.hpp"
#include "backends/emulator/sm_80/warp.hpp"

namespace tk::be::ptx {

// ---- warp
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

TK_DEVICE int opaque(int x) { return x; }
TK_DEVICE char* aligned_smem(std::uint32_t alignment) {
  auto const raw = reinterpret_cast<std::uintptr_t>(dynamic_smem());
  return dynamic_smem() + (alignment - raw % alignment) % alignment;
}

// ---- mbarrier
TK_DEVICE bool barrier_test(std::uint32_t bar, int phase, here where = here::current()) {
  return emulator::mbarrier_test(bar, phase, where);
}
TK_DEVICE void barrier_wait(std::uint32_t bar, int phase, here where = here::current()) {
  emulator::mbarrier_wait(bar, phase, where);
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
  emulator::copy_arrive(bar, where);
}
TK_DEVICE void copy_wait() { emulator::copy_wait_all(); }

// ---- atomics
TK_DEVICE void add_to_global(float* dst, float a, float b, float c, float d) {
  float const x[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) emulator::atomic_add(dst + i, x[i]);
}

// ---- products
// d[16, 8] = a[16, 16] b[16, 8] (+ d). With g = lane / 4, t = lane % 4 and half h of a register: a
// has row g + 8 (r & 1), k 2 t + h + 8 (r >> 1); b has k 2 t + h + 8 r, column g; d has row
// g + 8 (r >> 1), column 2 t + (r & 1).
template <class T>
TK_DEVICE void mma(T, float* d, std::uint32_t const* a, std::uint32_t b0, std::uint32_t b1,
                   bool keep, here where = here::current()) {
  struct {
    std::uint32_t a[4], b[2];
    float d[4];
  } op{{a[0], a[1], a[2], a[3]}, {b0, b1}, {}};
  if (keep)
    for (int r = 0; r < 4; ++r) op.d[r] = d[r];
  emulator::collective(
      op,
      [](auto* const* lanes) {
        float left[16][16], right[16][8];
        for (int l = 0; l < warp_lanes; ++l) {
          int const g = l / 4, t = l % 4;
          for (int h = 0; h < 2; ++h) {
            auto const value = [&](std::uint32_t x) {
              return widen(T{static_cast<std::uint16_t>(x >> 16 * h)});
            };
            for (int r = 0; r < 4; ++r)
              left[g + 8 * (r & 1)][2 * t + h + 8 * (r >> 1)] = value(lanes[l]->a[r]);
            for (int r = 0; r < 2; ++r) right[2 * t + h + 8 * r][g] = value(lanes[l]->b[r]);
          }
        }
        for (int row = 0; row < 16; ++row) {
          float sum[8];
          auto const at = [&](int col) -> float& {
            return lanes[row % 8 * 4 + col / 2]->d[row / 8 * 2 + col % 2];
          };
          for (int col = 0; col < 8; ++col) sum[col] = at(col);
          for (int k = 0; k < 16; ++k)
            for (int col = 0; col < 8; ++col) sum[col] += left[row][k] * right[k][col];
          for (int col = 0; col < 8; ++col) at(col) = sum[col];
        }
      },
      "mma m16n8k16", where);
  for (int r = 0; r < 4; ++r) d[r] = op.d[r];
}

}  // namespace tk::be::ptx
