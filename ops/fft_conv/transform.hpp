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
//           registers. Where N2 is small, S windows may lie side by side in tiles [64, S N2]: a
//           product reads its factor once for all of them.
// Numerics  operands fp16, sums fp32. F is kept as F / N2. With x below 2, sums of the first
// product
//           are below 2^8, and so is X / N2; times a spectrum below 2^7 it is below 2^15.5, and so
//           are sums of the first product back. So all that lies between products may be fp16; with
//           Pairs t is, too, and what it turns, at once in pairs. Else these are fp32.
// Source    Bailey's four-step form; as products of tiles: Fu et al., FlashFFTConv, 2023.
#pragma once
#include "backends/kernel.hpp"
#include "core/packed_complex.hpp"
#include "core/product.hpp"
#include "core/tile_runs.hpp"
#include "ops/fft_conv/tuning.hpp"

namespace tk {

template <int N2, int S = 1> struct fft_sizes {
  static constexpr int K1 = 64, N1 = 2 * K1, points = N1 * N2, half = points / 2;
  // Of a window tiles have U columns, and there are P of them; of S windows V columns.
  static constexpr int U = N2 < 64 ? N2 : 64, P = N2 / U, V = S * U;
  static_assert(V <= 64, "windows side by side have 64 columns at most");
  static constexpr int part = 16, parts = N2 / part;  // columns of a spectrum that move at once
  static constexpr float step = 1.f / points;
  using tile = shared_tile<fp16, K1, V>;
};
// x in shared memory, P tiles of each half of n1.
template <int N2, int S = 1>
using window_tiles = typename fft_sizes<N2, S>::tile[fft_sizes<N2, S>::P][2];

// A window is scaled to less than 2^window_bits, a spectrum in global memory by what scales its
// bound to less than 2^spectrum_bits.
constexpr int window_bits = 1, spectrum_bits = 7;
// They are kept as fp16 where sequences are bf16; fp16 ones would feel its rounding.
template <class T> using kept_spectra = std::conditional_t<std::is_same_v<T, bf16>, fp16, float>;
TK_DEVICE float scale_of_spectrum(float bound) { return scale_to(bound, spectrum_bits); }

// Where spectra lie in global memory, as fp16 or fp32: tiles of a few columns, re and im in turn;
// and a bound of each one's magnitudes before it was scaled: the sum of those of the numbers that
// it is the spectrum of.
template <int N2, class E> struct spectra {
  using sizes = fft_sizes<N2>;
  static constexpr bool packed = sizeof(E) == 2;
  using part = std::conditional_t<packed, packed_complex_tile<sizes::K1, sizes::part>,
                                  complex_tile<sizes::K1, sizes::part>>;
  std::conditional_t<packed, packed_tiles<sizes::K1, sizes::part>,
                     partial_tiles<sizes::K1, sizes::part>>
      tiles;
  float* bounds;
  static TK_BOTH std::int64_t place(std::int64_t n, int part) {
    return (n * sizes::parts + part) * 2;
  }
};
template <class Part, int N2, class E>
TK_DEVICE void load(Part& x, spectra<N2, E> const& from, std::int64_t n, int part) {
  load(x.re, from.tiles, from.place(n, part));
  load(x.im, from.tiles, from.place(n, part) + 1);
}
// Has caches fetch so many parts from the first-th on; by a worker.
template <int Count, int N2, class E>
TK_DEVICE void prefetch(spectra<N2, E> const& from, std::int64_t n, int first) {
  constexpr int tile_bytes = 64 * fft_sizes<N2>::part * static_cast<int>(sizeof(E)), line = 128,
                lines = Count * 2 * tile_bytes / line;
  auto const* const data =
      reinterpret_cast<char const*>(from.tiles.data) + from.place(n, first) * tile_bytes;
  TK_UNROLL
  for (int i = 0; i < lines; i += be::worker_lanes)
    if (int const nth = i + be::worker_lane(); nth < lines) be::prefetch(data + nth * line);
}
// Columns of V from the first-th part on.
template <int N2, class E, int V>
TK_DEVICE void store(spectra<N2, E> const& to, std::int64_t n, int first,
                     complex_tile<64, V> const& x) {
  auto const put = [&](auto const& y) {
    TK_UNROLL
    for (int part = 0; part < V / 16; ++part) {
      store(to.tiles, to.place(n, first + part), columns<16>(y.re, part));
      store(to.tiles, to.place(n, first + part) + 1, columns<16>(y.im, part));
    }
  };
  if constexpr (spectra<N2, E>::packed) put(pack(x));
  else put(x);
}

// C and F. C[n1, k1] is e^(2 pi i n1 (2 k1 + 1) / 256).
TK_DEVICE complex_number first_factor(int n1, int k1) {
  return unit_root(static_cast<float>(n1 * (2 * k1 + 1) % 256) * (1.f / 256));
}
template <int N2> TK_DEVICE complex_number second_factor(int n2, int k2) {
  return unit_root(static_cast<float>(n2 * k2 % N2) * (1.f / N2));
}

// t of the part-th U columns, where it is kept.
template <int N2, bool Pairs> struct fft_turns {
  static constexpr int U = fft_sizes<N2>::U, P = fft_sizes<N2>::P;
  struct turns {
    int part;
  };
  // Without: found when it is wanted.
  TK_DEVICE void fill_turns(int, int) {}
  static TK_DEVICE turns turns_of(int part) { return {part}; }
  template <int Sign>
  static TK_DEVICE packed_complex_tile<64, U> turned(complex_tile<64, U>& x, turns const& t) {
    turn<Sign>(x, 0.5f, t.part * U, fft_sizes<N2>::step);
    return pack(x);
  }
};
template <int N2> struct fft_turns<N2, true> {
  static constexpr int U = fft_sizes<N2>::U, P = fft_sizes<N2>::P;
  using turns = packed_complex_tile<64, U>;
  shared_packed<64, U> re[P], im[P];

  TK_DEVICE void fill_turns(int first, int step) {
    TK_ROLL
    for (int part = 0; part < P; ++part)
      fill(re[part], im[part], first, step, [=](int k1, int col) {
        float const turns = static_cast<float>((2 * k1 + 1) * (part * U + col));
        return half_root(turns * (fft_sizes<N2>::step / 2));
      });
  }
  TK_DEVICE turns turns_of(int part) const {
    turns t;
    load(t.re, re[part]);
    load(t.im, im[part]);
    return t;
  }
  template <int Sign>
  static TK_DEVICE packed_complex_tile<64, U> turned(complex_tile<64, U> const& x,
                                                     turns const& t) {
    auto y = pack(x);
    if constexpr (Sign > 0) multiply(y, 0, t);
    else multiply_conjugate(y, 0, t);
    return y;
  }
};

template <int N2, bool Pairs> struct fft_factors : fft_turns<N2, Pairs> {
  static constexpr int U = fft_sizes<N2>::U, P = fft_sizes<N2>::P;
  shared_tile<fp16, 64, 64> cos1[2], sin1[2];      // [n1, k1] of each half of n1
  shared_tile<fp16, U, U> cos2[P][P], sin2[P][P];  // [n2, k2] / N2, the same transposed

  // By worker `index` of `workers`.
  TK_DEVICE void fill(int index, int workers) {
    int const first = index * be::worker_lanes + be::worker_lane(),
              lanes = workers * be::worker_lanes;
    TK_ROLL
    for (int half = 0; half < 2; ++half)
      fill_roots(cos1[half], sin1[half], first, lanes,
                 [half](int row, int k1) { return first_factor(64 * half + row, k1); });
    TK_ROLL
    for (int i = 0; i < P * P; ++i) {
      int const k = i / P, n = i % P;
      fill_roots(cos2[k][n], sin2[k][n], first, lanes, [=](int row, int col) {
        auto const z = second_factor<N2>(k * U + row, n * U + col);
        return complex_number{z.re / N2, z.im / N2};
      });
    }
    this->fill_turns(index, workers);
  }

 private:
  template <int R, int C, class Root>
  static TK_DEVICE void fill_roots(shared_tile<fp16, R, C>& re, shared_tile<fp16, R, C>& im,
                                   int first, int lanes, Root root) {
    constexpr int across = C / 8;
    TK_ROLL
    for (int n = first; n < R * across; n += lanes) {
      int const row = n / across, col = n % across * 8;
      run_of_eight x, y;
      TK_UNROLL
      for (int i = 0; i < 8; ++i) {
        auto const z = root(row, col + i);
        x.x[i] = z.re, y.x[i] = z.im;
      }
      put_run(re, row, col, x);
      put_run(im, row, col, y);
    }
    be::publish_shared();
  }
};

// A left operand of N2 columns, in parts.
template <int N2> struct packed_parts {
  static constexpr int U = fft_sizes<N2>::U, P = fft_sizes<N2>::P;
  reg_tile<fp16, 64, U> of[P];
  // For loops that make the parts in order, and whose code should be there once: the others move
  // up, and the last one becomes x.
  TK_DEVICE void push(reg_tile<fp16, 64, U> const& x) {
    TK_UNROLL
    for (int i = 0; i + 1 < P; ++i) of[i] = of[i + 1];
    of[P - 1] = x;
  }
};
template <int N2> struct packed_complex {
  packed_parts<N2> re, im;
  TK_DEVICE void push(packed_complex_tile<64, fft_sizes<N2>::U> const& x) {
    re.push(x.re);
    im.push(x.im);
  }
};
// d = a times the n-th columns of f, or d += or -= it.
template <int N2, int V, int P>
TK_DEVICE void multiply(reg_tile<float, 64, V>& d, packed_parts<N2> const& a,
                        shared_tile<fp16, V, V> const (&f)[P][P], int n) {
  mm_ab(d, a.of[0], f[0][n]);
  TK_UNROLL
  for (int k = 1; k < P; ++k) mma_ab(d, a.of[k], f[k][n]);
}
template <int N2, int V, int P>
TK_DEVICE void add_product(reg_tile<float, 64, V>& d, packed_parts<N2> const& a,
                           shared_tile<fp16, V, V> const (&f)[P][P], int n) {
  TK_UNROLL
  for (int k = 0; k < P; ++k) mma_ab(d, a.of[k], f[k][n]);
}
template <int N2, int V, int P>
TK_DEVICE void subtract_product(reg_tile<float, 64, V>& d, packed_parts<N2> const& a,
                                shared_tile<fp16, V, V> const (&f)[P][P], int n) {
  TK_UNROLL
  for (int k = 0; k < P; ++k) mms_ab(d, a.of[k], f[k][n]);
}

// of(s, y): of each of S windows, x times the part-th U columns of F, or of its conjugate; ahead(s)
// before, while products run. Those of the next window run meanwhile.
template <bool Back, int N2, bool Pairs, int S, class Ahead, class Of>
TK_DEVICE void multiply_second(packed_complex<N2> const (&x)[S], fft_factors<N2, Pairs> const& f,
                               int part, Ahead ahead, Of of) {
  complex_tile<64, fft_sizes<N2>::U> y[S];
  auto const product = [&](int s) {
    auto& [re, im] = y[s];
    multiply(re, x[s].re, f.cos2, part);
    if constexpr (Back) {
      add_product(re, x[s].im, f.sin2, part);
      multiply(im, x[s].im, f.cos2, part);
      subtract_product(im, x[s].re, f.sin2, part);
    } else {
      subtract_product(re, x[s].im, f.sin2, part);
      multiply(im, x[s].re, f.sin2, part);
      add_product(im, x[s].im, f.cos2, part);
    }
  };
  product(0);
  TK_UNROLL
  for (int s = 0; s < S; ++s) {
    if (s + 1 < S) {
      product(s + 1);
      ahead(s + 1);
      wait<4>(y[s].re, y[s].im);
    } else {
      wait<0>(y[s].re, y[s].im);
    }
    of(s, y[s]);
  }
}

// each(part, s, y): of the spectra of x / N2, those of S windows, U columns after another, each
// after ahead(part, s), whose loads may be on their way while products run; without Both x's second
// half is 0 and not looked at. x may be used again when `each` is first called.
template <bool Both, int N2, int S, bool Pairs, class Worker, class Ahead, class Each>
TK_DEVICE void transform(shared_tile<fp16, 64, S * fft_sizes<N2>::U> const (&x)[fft_sizes<N2>::P][2],
                         fft_factors<N2, Pairs> const& f, Worker const& w, Ahead ahead, Each each) {
  constexpr int U = fft_sizes<N2>::U, P = fft_sizes<N2>::P, V = S * U;
  packed_complex<N2> d[S];
  TK_ROLL
  for (int part = 0; part < P; ++part) {
    complex_tile<64, V> sum;
    mm_atb(sum.re, f.cos1[0], x[part][0]);
    if constexpr (Both) mma_atb(sum.re, f.cos1[1], x[part][1]);
    mm_atb(sum.im, f.sin1[0], x[part][0]);
    if constexpr (Both) mma_atb(sum.im, f.sin1[1], x[part][1]);
    if (part == P - 1) ahead(0, 0);
    wait<0>(sum.re, sum.im);
    auto const t = f.turns_of(part);
    TK_UNROLL
    for (int s = 0; s < S; ++s) {
      complex_tile<64, U> of_window{columns<U>(sum.re, s), columns<U>(sum.im, s)};
      d[s].push(f.template turned<1>(of_window, t));
    }
  }
  w.sync();  // all products have read x
  TK_ROLL
  for (int part = 0; part < P; ++part) {
    multiply_second<false>(
        d, f, part, [&](int s) { ahead(part, s); }, [&](int s, auto& y) { each(part, s, y); });
    if (part + 1 < P) ahead(part + 1, 0);
  }
}

// The memory of a part of windows as sums.
template <int V> TK_DEVICE auto& sums_in(shared_tile<fp16, 64, V> (&x)[2]) {
  return reuse<shared_tile<float, 64, V>>(x);
}

// y[n1, n2] = N / 2 / N2 x of n1 < 64, where p are x's spectra; in parts, put(through, y), each in
// the memory of two tiles of `to`, which no product and no lane may still read. What was put there
// all lanes may read when they have met.
template <int N2, bool Pairs, int S, class Worker, class Put>
TK_DEVICE void transform_back(window_tiles<N2, S>& to, packed_complex<N2> const (&p)[S],
                              fft_factors<N2, Pairs> const& f, Worker const& w, Put put) {
  constexpr int V = fft_sizes<N2, S>::V, P = fft_sizes<N2>::P;
  TK_ROLL
  for (int part = 0; part < P; ++part) {
    packed_complex_tile<64, V> turned;
    auto const t = f.turns_of(part);
    multiply_second<true>(
        p, f, part, [](int) {},
        [&](int s, auto& d) { put_part(turned, s, f.template turned<-1>(d, t)); });
    auto& through = to[part];
    store_relaxed(through[0], turned.re);
    store_relaxed(through[1], turned.im);
    be::publish_shared();
    w.sync();
    reg_tile<float, 64, V> y;
    mm_ab(y, f.cos1[0], through[0]);
    mma_ab(y, f.sin1[0], through[1]);
    wait<0>(y);
    w.sync();  // all products have read
    put(through, y);
  }
}

}  // namespace tk
