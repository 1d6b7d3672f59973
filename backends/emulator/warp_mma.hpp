// SPDX-License-Identifier: MIT
// mma.sync.m16n8k16 (PTX ISA 9.7.14.5) by the lanes of one warp: d[16, 8] += a[16, 16] b[16, 8] in
// fp32. With g = lane / 4, t = lane % 4 and half h of a register: a has row g + 8 (r & 1), k
// 2 t + h + 8 (r >> 1); b has k 2 t + h + 8 r, column g; d has row g + 8 (r >> 1), column
// 2 t + (r & 1).
#pragma once
#include "backends/emulator/collective.hpp"
#include "backends/emulator/widen.hpp"
#include "core/element.hpp"

namespace tk::emulator {

template <class T> float widen_half(std::uint32_t x) {
  auto const bits = static_cast<std::uint16_t>(x);
  if constexpr (std::is_same_v<T, bf16>) return widen_bf16(bits);
  else return widen_fp16(bits);
}

template <class T>
void mma_m16n8k16(float* d, std::uint32_t const* a, std::uint32_t b0, std::uint32_t b1,
                  location where = location::current()) {
  struct {
    std::uint32_t a[4], b[2];
    float d[4];
  } op{{a[0], a[1], a[2], a[3]}, {b0, b1}, {d[0], d[1], d[2], d[3]}};
  collective(
      op,
      [](auto* const* lanes) {
        float left[16][16], right[16][8];
        for (int l = 0; l < 32; ++l) {
          int const g = l / 4, t = l % 4;
          for (int h = 0; h < 2; ++h) {
            for (int r = 0; r < 4; ++r)
              left[g + 8 * (r & 1)][2 * t + h + 8 * (r >> 1)] =
                  widen_half<T>(lanes[l]->a[r] >> 16 * h);
            for (int r = 0; r < 2; ++r)
              right[2 * t + h + 8 * r][g] = widen_half<T>(lanes[l]->b[r] >> 16 * h);
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

}  // namespace tk::emulator
