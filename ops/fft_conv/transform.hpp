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
  // Tiles have V columns of N2, and there are P of them.
  static constexpr int V = N2 < 64 ? N2 : 64, P = N2 / V;
  static constexpr int part = 16, parts = N2 / part;  // columns of a spectrum that move at once
  static constexpr float step = 1.f / points;
  using tile = shared_tile<fp16, K1, V>;
};
// x in shared memory, P tiles of each half of n1.
template <int N2> using window_tiles = typename fft_sizes<N2>::tile[fft_sizes<N2>::P][2];

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
  static constexpr int V = fft_sizes<N2>::V, P = fft_sizes<N2>::P;
  shared_tile<fp16, 64, 64> cos1[2], sin1[2];      // [n1, k1] of each half of n1
  shared_tile<fp16, V, V> cos2[P][P], sin2[P][P];  // [n2, k2], the same transposed

  // By lanes first, first + lanes, ...
  TK_DEVICE void fill(int first, int lanes) {
    TK_ROLL
    for (int half = 0; half < 2; ++half) {
      auto const of = [half](int row, int k1) { return first_factor(64 * half + row, k1); };
      fill_roots<true>(cos1[half], first, lanes, of);
      fill_roots<false>(sin1[half], first, lanes, of);
    }
    TK_ROLL
    for (int i = 0; i < P * P; ++i) {
      int const k = i / P, n = i % P;
      auto const of = [=](int row, int col) { return second_factor<N2>(k * V + row, n * V + col); };
      fill_roots<true>(cos2[k][n], first, lanes, of);
      fill_roots<false>(sin2[k][n], first, lanes, of);
    }
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

// A left operand of N2 columns, in parts.
template <int N2> struct packed_parts {
  static constexpr int V = fft_sizes<N2>::V, P = fft_sizes<N2>::P;
  reg_tile<fp16, 64, V> of[P];
  // For loops that make the parts in order, and whose code should be there once: the others move
  // up, and the last one becomes x.
  TK_DEVICE void push(reg_tile<float, 64, V> const& x) {
    TK_UNROLL
    for (int i = 0; i + 1 < P; ++i) of[i] = of[i + 1];
    of[P - 1] = cast<fp16>(x);
  }
};
template <int N2> struct packed_complex {
  packed_parts<N2> re, im;
};
// d = a times the n-th columns of f, or d += it.
template <bool Keep, int N2, int V, int P>
TK_DEVICE void multiply(reg_tile<float, 64, V>& d, packed_parts<N2> const& a,
                        shared_tile<fp16, V, V> const (&f)[P][P], int n) {
  if constexpr (Keep) mma_ab(d, a.of[0], f[0][n]);
  else mm_ab(d, a.of[0], f[0][n]);
  TK_UNROLL
  for (int k = 1; k < P; ++k) mma_ab(d, a.of[k], f[k][n]);
}

// each(part, s): of the spectrum of x, V columns after another; without Both x's second half is 0
// and not looked at. x may be used again when `each` is first called.
template <bool Both, int N2, class Worker, class Each>
TK_DEVICE void transform(window_tiles<N2> const& x, fft_factors<N2> const& f, Worker const& w,
                         Each each) {
  constexpr int V = fft_sizes<N2>::V, P = fft_sizes<N2>::P;
  packed_complex<N2> d;
  TK_ROLL
  for (int part = 0; part < P; ++part) {
    complex_tile<64, V> sum;
    mm_atb(sum.re, f.cos1[0], x[part][0]);
    if constexpr (Both) mma_atb(sum.re, f.cos1[1], x[part][1]);
    mm_atb(sum.im, f.sin1[0], x[part][0]);
    if constexpr (Both) mma_atb(sum.im, f.sin1[1], x[part][1]);
    wait<0>(sum.re, sum.im);
    turn<1>(sum, 0.5f, part * V, fft_sizes<N2>::step);
    d.re.push(sum.re);
    d.im.push(sum.im);
  }
  w.sync();  // all products have read x
  TK_ROLL
  for (int part = 0; part < P; ++part) {
    complex_tile<64, V> s;
    multiply<false>(s.re, d.im, f.sin2, part);
    multiply<false>(s.im, d.re, f.sin2, part);
    multiply<true>(s.im, d.im, f.cos2, part);
    wait<2 * P>(s.re);
    s.re = -s.re;
    multiply<true>(s.re, d.re, f.cos2, part);
    wait<0>(s.re, s.im);
    each(part, s);
  }
}

// The memory of a part of a window as sums.
template <int N2> TK_DEVICE auto& sums_in(typename fft_sizes<N2>::tile (&x)[2]) {
  return reuse<shared_tile<float, 64, fft_sizes<N2>::V>>(x);
}

// y[n1, n2] = `back` N / 2 x of n1 < 64, where p is x's spectrum; in parts, each in the memory of
// two tiles of `to`, which no product and no lane may still read. All lanes may read y when they
// have met.
template <int N2, class Worker>
TK_DEVICE void transform_back(window_tiles<N2>& to, packed_complex<N2> const& p, float back,
                              fft_factors<N2> const& f, Worker const& w) {
  constexpr int V = fft_sizes<N2>::V, P = fft_sizes<N2>::P;
  TK_ROLL
  for (int part = 0; part < P; ++part) {
    complex_tile<64, V> d;
    multiply<false>(d.im, p.re, f.sin2, part);
    multiply<false>(d.re, p.re, f.cos2, part);
    multiply<true>(d.re, p.im, f.sin2, part);
    wait<2 * P>(d.im);
    d.im = -d.im;
    multiply<true>(d.im, p.im, f.cos2, part);
    wait<0>(d.re, d.im);
    turn<-1>(d, 0.5f, part * V, fft_sizes<N2>::step);
    auto& through = to[part];
    store(through[0], cast<fp16>(d.re));
    store(through[1], cast<fp16>(d.im));
    w.sync();
    reg_tile<float, 64, V> y;
    mm_ab(y, f.cos1[0], through[0]);
    mma_ab(y, f.sin1[0], through[1]);
    wait<0>(y);
    w.sync();  // all products have read
    store(sums_in<N2>(through), cast<float>(y * back));
  }
}

}  // namespace tk
