// SPDX-License-Identifier: MIT
// What core/ needs to know of this backend: the register layout. A worker's one lane holds a whole
// tile, row-major:
//   (lane 0, element i) -> (row i / C, col i % C)
#pragma once
#include <atomic>

#include "backends/host/arithmetic.hpp"

namespace tk::be {

TK_DEVICE int worker_lane() { return 0; }

template <int R, int C> struct fragment_map {
  static_assert((R % 16 == 0 || R < 16) && C % 16 == 0,
                "a register tile's dimensions are multiples of 16, or its rows below 16");
  static constexpr int rows = R, cols = C, lanes = 1, count = R * C, rows_per_lane = R, chains = 16,
                       run = 8;
  static constexpr int row_index(int i) { return i / C; }
  static constexpr int row(int r) { return r; }
  static constexpr int col(int i) { return static_cast<int>(static_cast<unsigned>(i) % C); }
  static constexpr int element(int r, int k) { return r * C + k; }
  static constexpr int nth(int i) {
    return R == 1 ? i : static_cast<int>(static_cast<unsigned>(i) % C);
  }
  static constexpr int lane_row(int) { return 0; }
  static constexpr int lane_col(int) { return 0; }
  // The i-th element of the part-th V columns.
  template <int V> static constexpr int part(int i, int part) {
    return i / V * C + part * V + i % V;
  }
  // body(i, r, chain): sixteen neighbours belong to sixteen chains of a reduction.
  template <class Body> static TK_DEVICE void for_each(Body body) {
    for (int r = 0; r < R; ++r)
      for (int first = 0; first < C; first += chains)
#if defined(__clang__)  // clang 19 unrolls what it could have vectorised
#pragma clang loop unroll(disable)
#endif
        for (int k = 0; k < chains; ++k) body(r * C + first + k, r, k);
  }
};
template <int R> struct column_map {
  static constexpr int count = R;
};

// Adds to four numbers, each whole.
TK_DEVICE void add_to_global(float* p, float a, float b, float c, float d) {
  auto const add = [](float& to, float x) {
    std::atomic_ref<float>(to).fetch_add(x, std::memory_order_relaxed);
  };
  add(p[0], a), add(p[1], b), add(p[2], c), add(p[3], d);
}
// Products of the fp16 numbers in the halves of a and b.
TK_DEVICE std::uint32_t multiply_fp16x2(std::uint32_t a, std::uint32_t b) {
  auto const half = [](std::uint32_t x, int i) { return value_of(fp16{}, x >> 16 * i & 0xffff); };
  return pack(fp16{}, half(a, 0) * half(b, 0), half(a, 1) * half(b, 1));
}
// A row lies in one lane, and so does a column.
template <int R, class F> TK_DEVICE float across_row(float x, F) { return x; }
TK_DEVICE float shuffle_xor(float x, int) { return x; }
TK_DEVICE bool any_lane(bool x) { return x; }

}  // namespace tk::be
