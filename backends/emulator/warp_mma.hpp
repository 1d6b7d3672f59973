// SPDX-License-Identifier: MIT
// mma.sync.m16n8k16, and m16n8k32 of fp8 (PTX ISA 9.7.14.5), by the lanes of one warp: d[16, 8] +=
// a[16, k] b[k, 8] in fp32. With g = lane / 4, t = lane % 4 and element h of the H of a register: a
// has row g + 8 (r & 1), k H t + h + 4 H (r >> 1); b has k H t + h + 4 H r, column g; d has row g +
// 8 (r >> 1), column 2 t + (r & 1).
#pragma once
#include "backends/emulator/collective.hpp"
#include "backends/emulator/widen.hpp"

namespace tk::emulator {

template <class A, class B>
void mma_m16n8(float* d, std::uint32_t const* a, std::uint32_t b0, std::uint32_t b1,
               location where = location::current()) {
  static_assert(sizeof(A) == sizeof(B));
  static constexpr int H = 4 / sizeof(A), K = 8 * H;
  struct {
    std::uint32_t a[4], b[2];
    float d[4];
  } op{{a[0], a[1], a[2], a[3]}, {b0, b1}, {d[0], d[1], d[2], d[3]}};
  collective(
      op,
      [](auto* const* lanes) {
        float left[16][K], right[K][8];
        for (int l = 0; l < 32; ++l) {
          int const g = l / 4, t = l % 4;
          for (int h = 0; h < H; ++h) {
            for (int r = 0; r < 4; ++r)
              left[g + 8 * (r & 1)][H * t + h + 4 * H * (r >> 1)] =
                  widen_element<A>(lanes[l]->a[r], h);
            for (int r = 0; r < 2; ++r)
              right[H * t + h + 4 * H * r][g] = widen_element<B>(lanes[l]->b[r], h);
          }
        }
        for (int row = 0; row < 16; ++row) {
          float sum[8];
          auto const at = [&](int col) -> float& {
            return lanes[row % 8 * 4 + col / 2]->d[row / 8 * 2 + col % 2];
          };
          for (int col = 0; col < 8; ++col) sum[col] = at(col);
          for (int k = 0; k < K; ++k)
            for (int col = 0; col < 8; ++col) sum[col] += left[row][k] * right[k][col];
          for (int col = 0; col < 8; ++col) at(col) = sum[col];
        }
      },
      K == 16 ? "mma m16n8k16" : "mma m16n8k32", where);
  for (int r = 0; r < 4; ++r) d[r] = op.d[r];
}

}  // namespace tk::emulator
