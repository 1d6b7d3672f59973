// SPDX-License-Identifier: MIT
// Complex numbers in pairs of real tiles, and roots of unity.
//   unit_root(t), rounded_root(t)  e^(2 pi i t), 0 <= t < 1, to about 2^-23, or 2^-20 and faster
//   rotate<Sign>(x, shift, base, step)
//                                  x[row, col] *= e^(Sign 2 pi i (row + shift) (base + col) step),
//                                  where (row + shift) (base + col) step is from 0 to below 1/2
//   put_part(x, part, y)           columns of x = y
// Everything is fp32; products with fp16 ones are in core/packed_complex.hpp.
#pragma once
#include "core/partial_tiles.hpp"

namespace tk {

struct complex_number {
  float re, im;
};

TK_BOTH complex_number operator*(complex_number a, complex_number b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// sin and cos of 2 pi s, |s| <= 1/4, by their series: below 2^-23 of error.
TK_BOTH complex_number quarter_root(float s) {
  constexpr double two_pi = 6.283185307179586476925286766559, q = two_pi * two_pi;
  constexpr float s1 = static_cast<float>(two_pi), s3 = static_cast<float>(-two_pi * q / 6),
                  s5 = static_cast<float>(two_pi * q * q / 120),
                  s7 = static_cast<float>(-two_pi * q * q * q / 5040),
                  s9 = static_cast<float>(two_pi * q * q * q * q / 362880),
                  s11 = static_cast<float>(-two_pi * q * q * q * q * q / 39916800);
  constexpr float c2 = static_cast<float>(-q / 2), c4 = static_cast<float>(q * q / 24),
                  c6 = static_cast<float>(-q * q * q / 720),
                  c8 = static_cast<float>(q * q * q * q / 40320),
                  c10 = static_cast<float>(-q * q * q * q * q / 3628800),
                  c12 = static_cast<float>(q * q * q * q * q * q / 479001600);
  float const z = s * s;
  return {1 + z * (c2 + z * (c4 + z * (c6 + z * (c8 + z * (c10 + z * c12))))),
          s * (s1 + z * (s3 + z * (s5 + z * (s7 + z * (s9 + z * s11)))))};
}
// For t below 1/2: cos(2 pi t) = sin(2 pi (1/4 - t)), sin(2 pi t) = cos(2 pi (1/4 - t)).
TK_BOTH complex_number half_root(float t) {
  auto const r = quarter_root(0.25f - t);
  return {r.im, r.re};
}
TK_BOTH complex_number unit_root(float t) {
  bool const upper = t >= 0.5f;
  auto const r = half_root(upper ? t - 0.5f : t);
  return {upper ? -r.re : r.re, upper ? -r.im : r.im};
}

TK_DEVICE complex_number rounded_root(float t) {
  constexpr float two_pi = 6.2831853f;
  float const angle = two_pi * (t >= 0.5f ? t - 1 : t);
  return {be::cos(angle), be::sin(angle)};
}

template <int R, int C> struct complex_tile {
  reg_tile<float, R, C> re, im;
};

// Columns from a lane's first one in a row to its k-th.
template <class Map> TK_BOTH constexpr float offset_in_row(int k) {
  return static_cast<float>(Map::col(Map::element(0, k)) - Map::col(Map::element(0, 0)));
}
// A lane's columns of a row come in fours that lie alike. Its first root is found by its series,
// the others by rotating that.
template <int Sign, int R, int C>
TK_DEVICE void rotate(complex_tile<R, C>& x, float shift, int base, float step) {
  using map = be::fragment_map<R, C>;
  constexpr int each = map::count / map::rows_per_lane;
  constexpr auto offset = [](int k) { return offset_in_row<map>(k); };
  static_assert(offset(3) == offset(1) + offset(2) && offset(7) == offset(4) + offset(3));
  constexpr bool evenly = each < 9 || offset(8) == 2 * offset(4);  // fours follow one another
  int const lane = be::worker_lane();
  float const first = static_cast<float>(base + map::lane_col(lane)) * step;
  TK_UNROLL
  for (int r = 0; r < map::rows_per_lane; ++r) {
    int const place = map::lane_row(lane) + map::row(r);
    // Not kept from one call to the next: registers are for tiles.
    float const row = static_cast<float>(be::opaque(static_cast<std::uint32_t>(place))) + shift,
                angle = row * step;
    auto const by_1 = half_root(angle * offset(1)), by_2 = half_root(angle * offset(2)),
               by_3 = by_1 * by_2, by_4 = half_root(angle * offset(4));
    auto start = half_root(row * first);
    TK_UNROLL
    for (int k = 0; k < each; k += 4) {
      complex_number const roots[4] = {start, start * by_1, start * by_2, start * by_3};
      TK_UNROLL
      for (int i = 0; i < 4; ++i) {
        int const e = map::element(r, k + i);
        auto const y =
            complex_number{x.re.e[e], x.im.e[e]} * complex_number{roots[i].re, Sign * roots[i].im};
        x.re.e[e] = y.re;
        x.im.e[e] = y.im;
      }
      if (evenly && (k + 4) % 16 != 0) start = start * by_4;  // errors of four rotations at most
      else if (k + 4 < each) start = half_root(row * (first + step * offset(k + 4)));
    }
  }
}

// The part-th columns of x = y.
template <int V, int R, int C>
TK_DEVICE void put_part(complex_tile<R, C>& x, int part, complex_tile<R, V> const& y) {
  using map = be::fragment_map<R, C>;
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; ++i) {
    x.re.e[map::template part<V>(i, part)] = y.re.e[i];
    x.im.e[map::template part<V>(i, part)] = y.im.e[i];
  }
}

// A power of two, such that x times it is from 2^(bits - 1) to 2^bits; near the ends of fp32's
// range it is cut to what can be multiplied and divided by, and of 0 it is 1. An infinity or NaN
// gives some number.
TK_BOTH float scale_to(float x, int bits) {
  int const exponent = static_cast<int>(__builtin_bit_cast(std::uint32_t, x) >> 23 & 255);
  int scale = exponent == 0 ? 127 : 126 + 127 - exponent + bits;
  scale = scale < 27 ? 27 : scale > 227 ? 227 : scale;
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(scale) << 23);
}
// 1 / scale, of a power of two.
TK_BOTH float inverse_of_power(float scale) {
  auto const exponent = __builtin_bit_cast(std::uint32_t, scale) >> 23;
  return __builtin_bit_cast(float, (254 - exponent) << 23);
}

}  // namespace tk
