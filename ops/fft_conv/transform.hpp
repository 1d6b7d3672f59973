// SPDX-License-Identifier: MIT
// Fourier transforms of N = 128 N2 real numbers at the frequencies between the whole ones, as
// products of tiles: with m = N2 n1 + n2 and k = k1 + 128 k2,
//   X[k] = sum over m of x[m] e^(2 pi i m (k + 1/2) / N)
//        = sum over n2 of F[n2, k2] t[k1, n2] sum over n1 of C[n1, k1] x[n1, n2],
//   C = e^(2 pi i n1 (k1 + 1/2) / 128),  t = e^(2 pi i n2 (k1 + 1/2) / N),  F = e^(2 pi i n2 k2 /
//   N2)
// A product of two such spectra is the convolution in which what leaves at the end comes back with
// the other sign. Of real x the frequencies k1 < 64 say all (X[N - 1 - k] is the conjugate of
// X[k]), and none is a special case:
//   x[m] = 2 / N Re(sum over k1 < 64 and k2 of X[k] e^(-2 pi i m (k + 1/2) / N))
// Shapes    x in two shared tiles [64, N2], n1 below 64 and from there on; X[k1, k2] = [64, N2] in
//           registers.
// Numerics  operands fp16, sums and t fp32. Operands must be scaled: x below 2^8 keeps sums of the
//           first product below 2^15, X below 2^8 those of the first one back below 2^15.5.
// Source    Bailey's four-step form; as products of tiles: Fu et al., FlashFFTConv, 2023.
#pragma once
#include "backends/kernel.hpp"
#include "core/complex_tile.hpp"
#include "core/product.hpp"
#include "core/tile_runs.hpp"
#include "ops/fft_conv/tuning.hpp"

namespace tk {

template <int N2> struct fft_sizes {
  static constexpr int K1 = 64, N1 = 2 * K1, points = N1 * N2, half = points / 2;
  static constexpr int part = 16, parts = N2 / part;  // columns of a spectrum that move at once
  static constexpr int V = N2 < 64 ? N2 : 64;         // columns that are computed at once
  static constexpr float step = 1.f / points;
  using half_tile = shared_tile<fp16, K1, N2>;
};

// Where spectra lie in global memory: tiles of a few columns, re and im in turn; and a bound of
// each one's magnitudes: the sum of those of the numbers that it is the spectrum of.
template <int N2> struct spectra {
  using sizes = fft_sizes<N2>;
  partial_tiles<sizes::K1, sizes::part> tiles;
  float* bounds;
  static TK_BOTH std::int64_t place(std::int64_t n, int part) {
    return (n * sizes::parts + part) * 2;
  }
};
template <int N2>
TK_DEVICE void load(complex_tile<64, 16>& x, spectra<N2> const& from, std::int64_t n, int part) {
  load(x.re, from.tiles, from.place(n, part));
  load(x.im, from.tiles, from.place(n, part) + 1);
}
// Columns of V from the first-th part on.
template <int N2, int V>
TK_DEVICE void store(spectra<N2> const& to, std::int64_t n, int first,
                     complex_tile<64, V> const& x) {
  TK_UNROLL
  for (int part = 0; part < V / 16; ++part) {
    store(to.tiles, to.place(n, first + part), columns<16>(x.re, part));
    store(to.tiles, to.place(n, first + part) + 1, columns<16>(x.im, part));
  }
}

// C and F. C[n1, k1] is e^(2 pi i n1 (2 k1 + 1) / 256).
TK_DEVICE complex_number first_factor(int n1, int k1) {
  return unit_root(static_cast<float>(n1 * (2 * k1 + 1) % 256) * (1.f / 256));
}
template <int N2> TK_DEVICE complex_number second_factor(int n2, int k2) {
  return unit_root(static_cast<float>(n2 * k2 % N2) * (1.f / N2));
}

template <int N2> struct fft_factors {
  shared_tile<fp16, 64, 64> cos1[2], sin1[2];  // [n1, k1] of each half of n1
  shared_tile<fp16, N2, N2> cos2, sin2;        // [n2, k2], the same transposed

  // By lanes first, first + lanes, ...
  TK_DEVICE void fill(int first, int lanes) {
    TK_UNROLL
    for (int half = 0; half < 2; ++half) {
      auto const of = [half](int row, int k1) { return first_factor(64 * half + row, k1); };
      fill_roots<true>(cos1[half], first, lanes, of);
      fill_roots<false>(sin1[half], first, lanes, of);
    }
    auto const of = [](int n2, int k2) { return second_factor<N2>(n2, k2); };
    fill_roots<true>(cos2, first, lanes, of);
    fill_roots<false>(sin2, first, lanes, of);
  }

 private:
  template <bool Real, int R, int C, class Root>
  static TK_DEVICE void fill_roots(shared_tile<fp16, R, C>& dst, int first, int lanes, Root root) {
    fill_runs(dst, first, lanes, [&](int row, int col) {
      run_of_eight y;
      TK_UNROLL
      for (int i = 0; i < 8; ++i) {
        auto const z = root(row, col + i);
        y.x[i] = Real ? z.re : z.im;
      }
      return y;
    });
  }
};

// The V columns of factors that are computed at once.
template <int V, int N2>
TK_DEVICE shared_tile<fp16, N2, V> const& factors_of(shared_tile<fp16, N2, N2> const& f, int part) {
  if constexpr (V == N2) return f;
  else return columns<V>(f, part);
}
template <int V, int N2> TK_DEVICE auto& columns_of(shared_tile<fp16, 64, N2>& x, int part) {
  if constexpr (V == N2) return x;
  else return columns<V>(x, part);
}
template <int V, int N2>
TK_DEVICE auto const& columns_of(shared_tile<fp16, 64, N2> const& x, int part) {
  if constexpr (V == N2) return x;
  else return columns<V>(x, part);
}

template <int N2> struct packed_complex {
  reg_tile<fp16, 64, N2> re, im;
};

// each(part, s): of the spectrum of x, V columns after another; without Both x's second half is 0
// and not looked at. The products have read x when `each` is first called.
template <bool Both, int N2, class Each>
TK_DEVICE void transform(shared_tile<fp16, 64, N2> const (&x)[2], fft_factors<N2> const& f,
                         Each each) {
  constexpr int V = fft_sizes<N2>::V;
  packed_complex<N2> d;
  TK_UNROLL
  for (int part = 0; part < N2 / V; ++part) {
    complex_tile<64, V> sum;
    auto const &lower = columns_of<V>(x[0], part), &upper = columns_of<V>(x[1], part);
    mm_atb(sum.re, f.cos1[0], lower);
    if constexpr (Both) mma_atb(sum.re, f.cos1[1], upper);
    mm_atb(sum.im, f.sin1[0], lower);
    if constexpr (Both) mma_atb(sum.im, f.sin1[1], upper);
    wait<0>(sum.re, sum.im);
    turn<1>(sum, 0.5f, part * V, fft_sizes<N2>::step);
    put_columns(d.re, part, sum.re);
    put_columns(d.im, part, sum.im);
  }
  TK_UNROLL
  for (int part = 0; part < N2 / V; ++part) {
    complex_tile<64, V> s;
    auto const &cos = factors_of<V>(f.cos2, part), &sin = factors_of<V>(f.sin2, part);
    mm_ab(s.re, d.im, sin);
    mm_ab(s.im, d.re, sin);
    mma_ab(s.im, d.im, cos);
    wait<2>(s.re);
    s.re = -s.re;
    mma_ab(s.re, d.re, cos);
    wait<0>(s.re, s.im);
    each(part, s);
  }
}

// y[n1, n2] = N / 2 x of n1 < 64, where p is x's spectrum; through two tiles, which no product and
// no lane may still read. They are free again on return.
template <int N2, class Worker>
TK_DEVICE void transform_back(reg_tile<float, 64, N2>& y, packed_complex<N2> const& p,
                              shared_tile<fp16, 64, N2> (&through)[2], fft_factors<N2> const& f,
                              Worker const& w) {
  constexpr int V = fft_sizes<N2>::V;
  TK_UNROLL
  for (int part = 0; part < N2 / V; ++part) {
    complex_tile<64, V> d;
    auto const &cos = factors_of<V>(f.cos2, part), &sin = factors_of<V>(f.sin2, part);
    mm_ab(d.im, p.re, sin);
    mm_ab(d.re, p.re, cos);
    mma_ab(d.re, p.im, sin);
    wait<2>(d.im);
    d.im = -d.im;
    mma_ab(d.im, p.im, cos);
    wait<0>(d.re, d.im);
    turn<-1>(d, 0.5f, part * V, fft_sizes<N2>::step);
    store(columns_of<V>(through[0], part), cast<fp16>(d.re));
    store(columns_of<V>(through[1], part), cast<fp16>(d.im));
  }
  w.sync();
  mm_ab(y, f.cos1[0], through[0]);
  mma_ab(y, f.sin1[0], through[1]);
  wait<0>(y);
  w.sync();
}

}  // namespace tk
