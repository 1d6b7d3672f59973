// SPDX-License-Identifier: MIT
// Complex numbers in pairs of packed fp16 tiles; such tiles in memory: core/partial_tiles.hpp.
//   fill(re, im, first, step, f)              re + i im = f(row, col)
//   pack(x), unpack(x)                        x as such, or as fp32
//   put_part(x, part, y)                      columns of x = y
//   multiply(x, part, y), multiply_conjugate(x, part, y)
//                                             columns of x *= y, or conj(y), at once in fp16
//   multiply_add(sum, x, part, y), multiply_add<true>(...)
//                                             sum += columns of x times y, or conj(y), at once in
//                                             fp16
//   add_i_times(x, y), subtract_i_times(x, y) x + i y, x - i y, at once in fp16
//   multiply(x, part, y, sign)                the same of x in fp32 and y in fp16 or fp32; conj(y)
//                                             where sign is -1
//   add_product(sum, x, y, sign, by)          sum += by x y, or by x conj(y) where sign is -1, of
//                                             pairs of fp16 or fp32 tiles
//   add_rounded_product(sum, x, y, sign, by)  the same of fp16 ones, each product rounded to fp16
#pragma once
#include "core/complex_tile.hpp"

namespace tk {

template <int R, int C> struct packed_complex_tile {
  reg_tile<fp16, R, C> re, im;
};
template <int R, int C> TK_DEVICE packed_complex_tile<R, C> pack(complex_tile<R, C> const& x) {
  packed_complex_tile<R, C> y;
  y.re = cast<fp16>(x.re);
  y.im = cast<fp16>(x.im);
  return y;
}

template <int R, int C> TK_DEVICE complex_tile<R, C> unpack(packed_complex_tile<R, C> const& x) {
  complex_tile<R, C> y;
  y.re = x.re * 1.f;
  y.im = x.im * 1.f;
  return y;
}
// What is so already.
template <int R, int C>
TK_DEVICE packed_complex_tile<R, C> pack(packed_complex_tile<R, C> const& x) {
  return x;
}
template <int R, int C> TK_DEVICE complex_tile<R, C> unpack(complex_tile<R, C> const& x) {
  return x;
}

// The part-th columns of x = y.
template <int V, int R, int C>
TK_DEVICE void put_part(packed_complex_tile<R, C>& x, int part,
                        packed_complex_tile<R, V> const& y) {
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; i += 2) {
    int const at = be::fragment_map<R, C>::template part<V>(i, part) / 2;
    x.re.e[at] = y.re.e[i / 2];
    x.im.e[at] = y.im.e[i / 2];
  }
}

// By all lanes of workers first, first + step, ... of the block.
template <int R, int C, class F>
TK_DEVICE void fill(shared_packed<R, C>& re, shared_packed<R, C>& im, int first, int step, F f) {
  using order = packed_order<R, C>;
  using map = be::fragment_map<R, C>;
  int const lane = be::worker_lane();
  TK_ROLL
  for (int i = first; i < order::groups; i += step) {
    typename order::group x, y;
    TK_UNROLL
    for (int k = 0; k < order::at_once; ++k) {
      complex_number z[2];
      TK_UNROLL
      for (int e = 0; e < 2; ++e) {
        int const n = (i * order::at_once + k) * 2 + e;
        z[e] =
            f(map::lane_row(lane) + map::row(map::row_index(n)), map::lane_col(lane) + map::col(n));
      }
      x.w[k] = be::pack(fp16{}, z[0].re, z[1].re);
      y.w[k] = be::pack(fp16{}, z[0].im, z[1].im);
    }
    re.x[order::place(i)] = x;
    im.x[order::place(i)] = y;
  }
}

// (re, im) *= (by_re, by_im), of the halves: each sum is rounded twice.
TK_DEVICE void multiply_complex_pairs(std::uint32_t& re, std::uint32_t& im, std::uint32_t by_re,
                                      std::uint32_t by_im) {
  auto const x = be::multiply_fp16x2(re, by_re), y = be::multiply_fp16x2(re, by_im), z = im;
  re = be::fnma_fp16x2(z, by_im, x);
  im = be::fma_fp16x2(z, by_re, y);
}
template <int V, int R, int C>
TK_DEVICE void multiply(packed_complex_tile<R, C>& x, int part,
                        packed_complex_tile<R, V> const& y) {
  TK_UNROLL
  for (int i = 0; i < packed_order<R, V>::words; ++i) {
    int const at = be::fragment_map<R, C>::template part<V>(2 * i, part) / 2;
    multiply_complex_pairs(x.re.e[at], x.im.e[at], y.re.e[i], y.im.e[i]);
  }
}
// i conj(x conj(y)) = i conj(x) y: the same product with re and im exchanged.
template <int V, int R, int C>
TK_DEVICE void multiply_conjugate(packed_complex_tile<R, C>& x, int part,
                                  packed_complex_tile<R, V> const& y) {
  TK_UNROLL
  for (int i = 0; i < packed_order<R, V>::words; ++i) {
    int const at = be::fragment_map<R, C>::template part<V>(2 * i, part) / 2;
    multiply_complex_pairs(x.im.e[at], x.re.e[at], y.re.e[i], y.im.e[i]);
  }
}

// (re, im) += (x_re, x_im) (by_re, by_im), of the halves.
TK_DEVICE void add_complex_pairs(std::uint32_t& re, std::uint32_t& im, std::uint32_t x_re,
                                 std::uint32_t x_im, std::uint32_t by_re, std::uint32_t by_im) {
  re = be::fnma_fp16x2(x_im, by_im, be::fma_fp16x2(x_re, by_re, re));
  im = be::fma_fp16x2(x_im, by_re, be::fma_fp16x2(x_re, by_im, im));
}
// The part-th columns of sum += those of x times y, or conj(y), with re and im exchanged as above.
template <bool Conjugate = false, int V, int R, int C>
TK_DEVICE void multiply_add(packed_complex_tile<R, C>& sum, packed_complex_tile<R, C> const& x,
                            int part, packed_complex_tile<R, V> const& y) {
  TK_UNROLL
  for (int i = 0; i < packed_order<R, V>::words; ++i) {
    int const at = be::fragment_map<R, C>::template part<V>(2 * i, part) / 2;
    auto &re = sum.re.e[at], &im = sum.im.e[at];
    if constexpr (Conjugate)
      add_complex_pairs(im, re, x.im.e[at], x.re.e[at], y.re.e[i], y.im.e[i]);
    else add_complex_pairs(re, im, x.re.e[at], x.im.e[at], y.re.e[i], y.im.e[i]);
  }
}
inline constexpr std::uint32_t fp16_ones = 0x3c003c00;
template <int R, int C>
TK_DEVICE packed_complex_tile<R, C> add_i_times(packed_complex_tile<R, C> const& x,
                                                packed_complex_tile<R, C> const& y) {
  packed_complex_tile<R, C> z;
  TK_UNROLL
  for (int i = 0; i < packed_order<R, C>::words; ++i) {
    z.re.e[i] = be::fnma_fp16x2(y.im.e[i], fp16_ones, x.re.e[i]);
    z.im.e[i] = be::fma_fp16x2(y.re.e[i], fp16_ones, x.im.e[i]);
  }
  return z;
}
// With re and im exchanged, as for conj(y) above.
template <int R, int C>
TK_DEVICE packed_complex_tile<R, C> subtract_i_times(packed_complex_tile<R, C> const& x,
                                                     packed_complex_tile<R, C> const& y) {
  auto const z =
      add_i_times(packed_complex_tile<R, C>{x.im, x.re}, packed_complex_tile<R, C>{y.im, y.re});
  return {z.im, z.re};
}

template <int R, int C> TK_DEVICE float value_of(reg_tile<float, R, C> const& x, int i) {
  return x.e[i];
}
template <int R, int C> TK_DEVICE float value_of(reg_tile<fp16, R, C> const& x, int i) {
  return x.value(i);
}
// Pair is a complex_tile<R, V>, or packed.
template <int V, int R, int C, template <int, int> class Pair>
TK_DEVICE void multiply(complex_tile<R, C>& x, int part, Pair<R, V> const& y, float sign) {
  TK_UNROLL
  for (int i = 0; i < be::fragment_map<R, V>::count; ++i) {
    int const e = be::fragment_map<R, C>::template part<V>(i, part);
    auto const z = complex_number{x.re.e[e], x.im.e[e]} *
                   complex_number{value_of(y.re, i), sign * value_of(y.im, i)};
    x.re.e[e] = z.re;
    x.im.e[e] = z.im;
  }
}
template <int R, int C, class X, class Y>
TK_DEVICE void add_product(complex_tile<R, C>& sum, X const& x, Y const& y, float sign, float by) {
  be::fragment_map<R, C>::for_each([&](int i, int, int) {
    auto const z = complex_number{by * value_of(x.re, i), by * value_of(x.im, i)} *
                   complex_number{value_of(y.re, i), sign * value_of(y.im, i)};
    sum.re.e[i] += z.re;
    sum.im.e[i] += z.im;
  });
}
template <int R, int C>
TK_DEVICE void add_rounded_product(complex_tile<R, C>& sum, packed_complex_tile<R, C> x,
                                   packed_complex_tile<R, C> const& y, float sign, float by) {
  if (sign < 0) multiply_conjugate(x, 0, y);
  else multiply(x, 0, y);
  be::fragment_map<R, C>::for_each([&](int i, int, int) {
    sum.re.e[i] += by * x.re.value(i);
    sum.im.e[i] += by * x.im.value(i);
  });
}

}  // namespace tk
