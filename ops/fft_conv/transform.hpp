// SPDX-License-Identifier: MIT
// Fourier transforms of N = 128 N2 real numbers at the frequencies between the whole ones, as
// products of tiles: with m = N2 n1 + n2 and k = k1 + 128 k2,
//   X[k] = sum over m of x[m] e^(2 pi i m (k + 1/2) / N)
//        = sum over n2 of F[n2, k2] t[k1, n2] sum over n1 of C[n1, k1] x[n1, n2],
//   C = e^(2 pi i n1 (k1 + 1/2) / 128),  t = e^(2 pi i n2 (k1 + 1/2) / N),
//   F = e^(2 pi i n2 k2 / N2)
// A product of two such spectra is the convolution in which what leaves at the end comes back with
// the other sign. Of real x the frequencies k1 < 64 say all (X[N - 1 - k] is the conjugate of
// X[k]), and none is a special case:
//   x[m] = 2 / N Re(sum over k1 < 64 and k2 of X[k] e^(-2 pi i m (k + 1/2) / N))
// Shapes    x in two shared tiles [64, N2], n1 below 64 and from there on; X[k1, k2] = [64, N2] in
//           registers. Where N2 is small, S windows may lie side by side in tiles [64, S N2]: a
//           product reads its factor once for all of them.
// Numerics  operands fp16, sums fp32. F is kept as F / N2. With x below 2, sums of the first
//           product are below 2^8, and so is X / N2; times a spectrum below 2^7 it is below 2^15.5,
//           and so are sums of the first product back. So all that lies between products may be
//           fp16. With Pairs t is, too, and what it turns, at once in pairs; and where N2 is small
//           so are sums, but for the last ones. Else these are fp32.
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

// 2^exponent: 0 where that is below what is normal in fp32, and 2^127 at most.
TK_DEVICE float power_of_two(int exponent) {
  int const biased = exponent < -126 ? 0 : exponent > 127 ? 254 : exponent + 127;
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(biased) << 23);
}
// Of 2^n: n.
TK_DEVICE int exponent_of(float power) {
  return static_cast<int>(__builtin_bit_cast(std::uint32_t, power) >> 23) - 127;
}

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

// The turns of C[n1, k1] = e^(2 pi i n1 (2 k1 + 1) / 256), and of F.
TK_DEVICE float first_turns(int n1, int k1) {
  return static_cast<float>(n1 * (2 * k1 + 1) & 255) * (1.f / 256);
}
template <int N2> TK_DEVICE float second_turns(int n2, int k2) {
  return static_cast<float>(n2 * k2 & (N2 - 1)) * (1.f / N2);
}

// Sums of products of V columns, of transforms with N2.
template <int N2, bool Pairs> inline constexpr bool has_packed_sums = Pairs && N2 < 64;
template <int N2, bool Pairs, int V>
using fft_sums =
    std::conditional_t<has_packed_sums<N2, Pairs>, packed_complex_tile<64, V>, complex_tile<64, V>>;

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
    rotate<Sign>(x, 0.5f, t.part * U, fft_sizes<N2>::step);
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
        return rounded_root(turns * (fft_sizes<N2>::step / 2));
      });
  }
  TK_DEVICE turns turns_of(int part) const {
    turns t;
    load(t.re, re[part]);
    load(t.im, im[part]);
    return t;
  }
  template <int Sign, class Sums>
  static TK_DEVICE packed_complex_tile<64, U> turned(Sums const& x, turns const& t) {
    auto y = pack(x);
    if constexpr (Sign > 0) multiply(y, 0, t);
    else multiply_conjugate(y, 0, t);
    return y;
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

// put(row, col, re, im) for each eight columns of R x C roots, of turns(row, col), that are this
// lane's.
template <int R, int C, class Turns, class Put>
TK_DEVICE void for_each_roots(int first, int lanes, Turns turns, Put put) {
  constexpr int across = C / 8;
  TK_ROLL
  for (int n = first; n < R * across; n += lanes) {
    int const row = n / across, col = n % across * 8;
    run_of_eight x, y;
    TK_UNROLL
    for (int i = 0; i < 8; ++i) {
      auto const z = rounded_root(turns(row, col + i));
      x.x[i] = z.re, y.x[i] = z.im;
    }
    put(row, col, x, y);
  }
  be::publish_shared();
}

// F / N2, [n2, k2], the same transposed. multiply() issues x times its part-th U columns, or, Back,
// those of its conjugate; await() gives them when so many later products at most are running.
template <int N2, bool Pairs, bool Fused = (N2 < 64)> struct second_factors {
  static constexpr int U = fft_sizes<N2>::U, P = fft_sizes<N2>::P, products = 4 * P;
  shared_tile<fp16, U, U> cos[P][P], sin[P][P];
  using sums = complex_tile<64, U>;

  TK_DEVICE void fill(int first, int lanes) {
    TK_ROLL
    for (int i = 0; i < P * P; ++i) {
      int const k = i / P, n = i % P;
      for_each_roots<U, U>(
          first, lanes,
          [=](int row, int col) { return second_turns<N2>(k * U + row, n * U + col); },
          [&](int row, int col, auto const& re, auto const& im) {
            put_run(cos[k][n], row, col, scaled(re, 1.f / N2));
            put_run(sin[k][n], row, col, scaled(im, 1.f / N2));
          });
    }
  }
  template <bool Back>
  TK_DEVICE void multiply(sums& y, packed_complex<N2> const& x, int part) const {
    add<false, false>(y.re, x.re, cos, part);
    add<true, !Back>(y.re, x.im, sin, part);
    add<false, false>(y.im, Back ? x.im : x.re, Back ? cos : sin, part);
    add<true, Back>(y.im, Back ? x.re : x.im, Back ? sin : cos, part);
  }
  template <bool Back, int Running> static TK_DEVICE sums await(sums& y) {
    wait<Running>(y.re, y.im);
    return y;
  }

 private:
  // y = a times the part-th columns of f, or y += it or, Minus, y -= it.
  template <bool Keep, bool Minus>
  static TK_DEVICE void add(reg_tile<float, 64, U>& y, packed_parts<N2> const& a,
                            shared_tile<fp16, U, U> const (&f)[P][P], int part) {
    TK_UNROLL
    for (int k = 0; k < P; ++k) {
      if constexpr (Minus) mms_ab(y, a.of[k], f[k][part]);
      else if (Keep || k > 0) mma_ab(y, a.of[k], f[k][part]);
      else mm_ab(y, a.of[k], f[k][part]);
    }
  }
};
// Where they are small real and imaginary parts are side by side.
template <int N2, bool Pairs> struct second_factors<N2, Pairs, true> {
  static constexpr int products = 2;
  shared_tile<fp16, N2, 2 * N2> of_re, of_im;  // cos and sin; -sin and cos
  using sums = reg_tile<std::conditional_t<has_packed_sums<N2, Pairs>, fp16, float>, 64, 2 * N2>;

  TK_DEVICE void fill(int first, int lanes) {
    for_each_roots<N2, N2>(
        first, lanes, [](int row, int col) { return second_turns<N2>(row, col); },
        [&](int row, int col, auto const& re, auto const& im) {
          put_run(of_re, row, col, scaled(re, 1.f / N2));
          put_run(of_re, row, N2 + col, scaled(im, 1.f / N2));
          put_run(of_im, row, col, scaled(im, -1.f / N2));
          put_run(of_im, row, N2 + col, scaled(re, 1.f / N2));
        });
  }
  // i conj(F) conj(x) is the conjugate's, of which real and imaginary parts are exchanged.
  template <bool Back> TK_DEVICE void multiply(sums& y, packed_complex<N2> const& x, int) const {
    mm_ab(y, (Back ? x.im : x.re).of[0], of_re);
    mma_ab(y, (Back ? x.re : x.im).of[0], of_im);
  }
  template <bool Back, int Running> static TK_DEVICE fft_sums<N2, Pairs, N2> await(sums& y) {
    wait<Running>(y);
    return {columns<N2>(y, Back), columns<N2>(y, !Back)};
  }
};

template <int N2, bool Pairs> struct fft_factors : fft_turns<N2, Pairs> {
  shared_tile<fp16, 64, 64> cos1[2], sin1[2];  // [n1, k1] of each half of n1
  second_factors<N2, Pairs> second;

  // By worker `index` of `workers`.
  TK_DEVICE void fill(int index, int workers) {
    int const first = index * be::worker_lanes + be::worker_lane(),
              lanes = workers * be::worker_lanes;
    for_each_roots<64, 64>(
        first, lanes, [](int row, int k1) { return first_turns(row, k1); },
        [&](int row, int col, auto const& re, auto const& im) {
          put_run(cos1[0], row, col, re);
          put_run(sin1[0], row, col, im);
          // 64 rows further on they are i (-1)^k1 times that.
          run_of_eight x, y;
          TK_UNROLL
          for (int i = 0; i < 8; ++i) {
            x.x[i] = i % 2 ? im.x[i] : -im.x[i];
            y.x[i] = i % 2 ? -re.x[i] : re.x[i];
          }
          put_run(cos1[1], row, col, x);
          put_run(sin1[1], row, col, y);
        });
    second.fill(first, lanes);
    this->fill_turns(index, workers);
  }
};

// of(s, y): of each of S windows, x times the part-th U columns of F, or of its conjugate; ahead(s)
// before, while products run. The product of the next window is under way meanwhile, and, Two, is
// issued before that of this one is done, which takes its registers.
template <bool Back, bool Two = true, int N2, int S, class Factors, class Ahead, class Of>
TK_DEVICE void multiply_second(packed_complex<N2> const (&x)[S], Factors const& f, int part,
                               Ahead ahead, Of of) {
  using factors = decltype(f.second);
  typename factors::sums y[S];
  f.second.template multiply<Back>(y[0], x[0], part);
  TK_UNROLL
  for (int s = 0; s + 1 < S; ++s) {
    if constexpr (!Two) wait<0>(y[s]);
    f.second.template multiply<Back>(y[s + 1], x[s + 1], part);
    ahead(s + 1);
    auto z = factors::template await<Back, factors::products>(y[s]);
    of(s, z);
  }
  auto z = factors::template await<Back, 0>(y[S - 1]);
  of(S - 1, z);
}

// each(part, s, y): of the spectra of x / N2, those of S windows, U columns after another, fp32 or
// packed, each after ahead(part, s), whose loads may be on their way while products run; without
// Both x's second half is 0 and not looked at. x may be used again when `each` is first called.
template <bool Both, int N2, int S, bool Pairs, class Worker, class Ahead, class Each>
TK_DEVICE void transform(
    shared_tile<fp16, 64, S * fft_sizes<N2>::U> const (&x)[fft_sizes<N2>::P][2],
    fft_factors<N2, Pairs> const& f, Worker const& w, Ahead ahead, Each each) {
  constexpr int U = fft_sizes<N2>::U, P = fft_sizes<N2>::P, V = S * U;
  packed_complex<N2> d[S];
  TK_ROLL
  for (int part = 0; part < P; ++part) {
    fft_sums<N2, Pairs, V> sum;
    mm_atb(sum.re, f.cos1[0], x[part][0]);
    if constexpr (Both) mma_atb(sum.re, f.cos1[1], x[part][1]);
    mm_atb(sum.im, f.sin1[0], x[part][0]);
    if constexpr (Both) mma_atb(sum.im, f.sin1[1], x[part][1]);
    if (part == P - 1) ahead(0, 0);
    wait<0>(sum.re, sum.im);
    auto const t = f.turns_of(part);
    TK_UNROLL
    for (int s = 0; s < S; ++s) {
      fft_sums<N2, Pairs, U> of_window{columns<U>(sum.re, s), columns<U>(sum.im, s)};
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
// all lanes may read when they have met. ahead() is called when the first product of each part is
// done, meanwhile() while its last one runs.
template <int N2, bool Pairs, int S, class Worker, class Ahead, class Meanwhile, class Put>
TK_DEVICE void transform_back(window_tiles<N2, S>& to, packed_complex<N2> const (&p)[S],
                              fft_factors<N2, Pairs> const& f, Worker const& w, Ahead ahead,
                              Meanwhile meanwhile, Put put) {
  constexpr int V = fft_sizes<N2, S>::V, P = fft_sizes<N2>::P;
  TK_ROLL
  for (int part = 0; part < P; ++part) {
    packed_complex_tile<64, V> turned;
    typename fft_factors<N2, Pairs>::turns t;
    if constexpr (S > 1) t = f.turns_of(part);
    multiply_second<true>(
        p, f, part, [](int) {},
        [&](int s, auto& d) {
          if (s == 0) ahead();
          if constexpr (S == 1) t = f.turns_of(part);  // while products run it has no registers
          put_part(turned, s, f.template turned<-1>(d, t));
        });
    auto& through = to[part];
    store_relaxed(through[0], turned.re);
    store_relaxed(through[1], turned.im);
    be::publish_shared();
    w.sync();
    reg_tile<float, 64, V> y;
    mm_ab(y, f.cos1[0], through[0]);
    mma_ab(y, f.sin1[0], through[1]);
    meanwhile();
    wait<0>(y);
    w.sync();  // all products have read
    put(through, y);
  }
}

}  // namespace tk
