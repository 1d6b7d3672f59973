// SPDX-License-Identifier: MIT
// Complex numbers in pairs of real tiles, and roots of unity.
//   unit_root(t)                   e^(2 pi i t), 0 <= t < 1, to about 2^-23
//   turn<Sign>(x, shift, step)     x[row, col] *= e^(Sign 2 pi i (row + shift) col step), where the
//                                  turns are from 0 to below 1/2
//   add_product(x, a, b, sign)     x += a b, or a conj(b) where sign is -1; x a part of a tile
// Everything is fp32.
#pragma once
#include "core/partial_tiles.hpp"

namespace tk {

struct complex_number {
  float re, im;
};

// sin and cos of 2 pi s, |s| <= 1/4, by their series: below 2^-23 of error.
TK_BOTH complex_number quarter_root(float s) {
  constexpr double turn = 6.283185307179586476925286766559, q = turn * turn;
  constexpr float s1 = static_cast<float>(turn), s3 = static_cast<float>(-turn * q / 6),
                  s5 = static_cast<float>(turn * q * q / 120),
                  s7 = static_cast<float>(-turn * q * q * q / 5040),
                  s9 = static_cast<float>(turn * q * q * q * q / 362880),
                  s11 = static_cast<float>(-turn * q * q * q * q * q / 39916800);
  constexpr float c2 = static_cast<float>(-q / 2), c4 = static_cast<float>(q * q / 24),
                  c6 = static_cast<float>(-q * q * q / 720),
                  c8 = static_cast<float>(q * q * q * q / 40320),
                  c10 = static_cast<float>(-q * q * q * q * q / 3628800),
                  c12 = static_cast<float>(q * q * q * q * q * q / 479001600);
  float const z = s * s;
  return {1 + z * (c2 + z * (c4 + z * (c6 + z * (c8 + z * (c10 + z * c12))))),
          s * (s1 + z * (s3 + z * (s5 + z * (s7 + z * (s9 + z * s11)))))};
}
// Below half a turn: cos(2 pi t) = sin(2 pi (1/4 - t)), sin(2 pi t) = cos(2 pi (1/4 - t)).
TK_BOTH complex_number half_root(float t) {
  auto const r = quarter_root(0.25f - t);
  return {r.im, r.re};
}
TK_BOTH complex_number unit_root(float t) {
  bool const upper = t >= 0.5f;
  auto const r = half_root(upper ? t - 0.5f : t);
  return {upper ? -r.re : r.re, upper ? -r.im : r.im};
}

template <int R, int C> struct complex_tile {
  reg_tile<float, R, C> re, im;
};

template <int Sign, int R, int C>
TK_DEVICE void turn(complex_tile<R, C>& x, float shift, float step) {
  using map = be::fragment_map<R, C>;
  int const lane = be::worker_lane();
  float const row = static_cast<float>(map::lane_row(lane)) + shift,
              col = static_cast<float>(map::lane_col(lane)) * step;
  map::for_each([&](int i, int r, int) {
    auto const root = half_root((row + static_cast<float>(map::row(r))) *
                                (col + static_cast<float>(map::col(i)) * step));
    float const re = x.re.e[i], im = x.im.e[i], turned = Sign < 0 ? -root.im : root.im;
    x.re.e[i] = re * root.re - im * turned;
    x.im.e[i] = re * turned + im * root.re;
  });
}

// The part-th V columns of x.
template <int V, int R, int C>
TK_DEVICE void add_product(complex_tile<R, C>& x, int part, complex_tile<R, V> const& a,
                           complex_tile<R, V> const& b, float sign) {
  using map = be::fragment_map<R, C>;
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; ++i) {
    int const e = map::template part<V>(i, part);
    float const im = sign * b.im.e[i];
    x.re.e[e] += a.re.e[i] * b.re.e[i] - a.im.e[i] * im;
    x.im.e[e] += a.re.e[i] * im + a.im.e[i] * b.re.e[i];
  }
}

// Of all elements and both parts.
template <int R, int C> TK_DEVICE float largest_of_lane(complex_tile<R, C> const& x) {
  float y = 0;
  be::fragment_map<R, C>::for_each([&](int i, int, int) {
    y = be::max(y, __builtin_fabsf(x.re.e[i]));
    y = be::max(y, __builtin_fabsf(x.im.e[i]));
  });
  return y;
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
