// SPDX-License-Identifier: MIT
// Matrix products and transposing reads of waves of 64 lanes, in numbers of 16 bits held in words.
//   mfma<M, T>   D[M, M] += A[M, K] B[K, M], M = 16 or 32. Lane l holds of A row l % M and of B
//                column l % M the N k from N (l / M) on, N = 4 or 8, so that K = 64 N / M; of D
//                column l % M the rows 4 (l / M) + r / 4 * 256 / M + r % 4.
//   read_transposed   lane l names four numbers of its own; of every 16 lanes, lane i gets element
//                i % 4 of what lanes i / 4, i / 4 + 4, i / 4 + 8 and i / 4 + 12 named.
// Sums are fp32, upward in k; the hardware's order is not known.
#pragma once
#include <cstring>

#include "backends/emulator/emulator.hpp"
#include "core/element.hpp"

namespace tk::emulator {

template <int M, class T, class Operand, class Sums>
Sums mfma(Operand const& a, Operand const& b, Sums d, std::source_location where) {
  constexpr int N = sizeof(Operand) / 2, K = 64 * N / M, count = M * M / 64;
  static_assert((M == 16 || M == 32) && (N == 4 || N == 8) && sizeof(Sums) == 4 * count);
  struct {
    Operand a, b;
    float d[count];
  } op{a, b, {}};
  for (int r = 0; r < count; ++r) op.d[r] = d[r];
  collective(
      op,
      [](auto* const* lanes) {
        float left[M][K], right[K][M];
        for (int l = 0; l < 64; ++l)
          for (int e = 0; e < N; ++e) {
            auto const value = [&](Operand const& x) {
              return tk::widen(T{static_cast<std::uint16_t>(x.w[e / 2] >> e % 2 * 16)});
            };
            left[l % M][l / M * N + e] = value(lanes[l]->a);
            right[l / M * N + e][l % M] = value(lanes[l]->b);
          }
        for (int l = 0; l < 64; ++l)
          for (int r = 0; r < count; ++r) {
            float const* const row = left[4 * (l / M) + r / 4 * (256 / M) + r % 4];
            float sum = lanes[l]->d[r];
            for (int k = 0; k < K; ++k) sum += row[k] * right[k][l % M];
            lanes[l]->d[r] = sum;
          }
      },
      M == 16  ? N == 4 ? "mfma 16x16x16" : "mfma 16x16x32"
      : N == 4 ? "mfma 32x32x8"
               : "mfma 32x32x16",
      where);
  for (int r = 0; r < count; ++r) d[r] = op.d[r];
  return d;
}

// As many numbers as four fit into a Result.
template <class Result> Result read_transposed(char const* p, std::source_location where) {
  if (shared_address(p, where) % 8 != 0)
    fail("a transposing read at an address that is no multiple of 8", where);
  struct {
    std::uint16_t named[4], got[4];
  } op{};
  std::memcpy(op.named, p, 8);
  collective(
      op,
      [](auto* const* lanes) {
        for (int l = 0; l < 64; ++l)
          for (int e = 0; e < 4; ++e)
            lanes[l]->got[e] = lanes[l / 16 * 16 + 4 * e + l % 16 / 4]->named[l % 4];
      },
      "transposing read", where);
  Result y;
  static_assert(sizeof y == 8);
  std::memcpy(&y, op.got, 8);
  return y;
}

}  // namespace tk::emulator
