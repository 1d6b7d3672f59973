// SPDX-License-Identifier: MIT
// Fourier transforms for circular convolutions of n = 64 N2 real numbers, at whole frequencies:
// even and odd elements, e and o, are one sequence of n / 2 complex numbers, z = e + i o. With m =
// M n1 + j, k = k1 + 64 k2, M = N2 / 2,
//   Z[k] = sum over m of z[m] e^(2 pi i m k / (n / 2))
//        = sum over j of F[j, k2] t[k1, j] sum over n1 of C[n1, k1] z[n1, j],
//   C = e^(2 pi i n1 k1 / 64),  t = e^(2 pi i j k1 / (64 M)),  F = e^(2 pi i j k2 / M)
// and Z' likewise of e - i o. The first product is of real numbers, x[n1, 2 j + p], whose columns
// then meet as z. With K and L the spectra of a filter's even and odd taps, w[k] = e^(2 pi i k /
// (n / 2)), a circular convolution's even and odd elements have the spectrum
//   Y = A Z + B Z',   A = K + (1 - w) i L / 2,   B = (1 + w) i L / 2
// and a correlation's conj(A) Z - conj(B) Z'. So of Y there is half of what a window with zeros
// beside it would have (transform.hpp), and no frequency is a special case.
// Shapes    x in a shared tile [64, N2], or S of them side by side; Z and Z'[k1, k2] = [64, M] in
//           registers, A and B in global memory where a spectrum of N2 columns is. Columns of z and
//           of spectra are in the order in which lanes have pairs of neighbours (paired_column).
// Numerics  those of transform.hpp: Z / M is below 2^8, and |A| + |B| at most twice the sum of the
//           taps' magnitudes.
#pragma once
#include "ops/fft_conv/transform.hpp"

namespace tk {

// Which pair of neighbours of N2 columns becomes column col of N2 / 2: pairs of a lane stay in it.
// Lanes and their elements have columns by bits, and so it is the sum of those of col's bits.
template <int N2> struct column_bits {
  int of[8] = {};
  TK_BOTH constexpr column_bits() {
    using pairs = be::fragment_map<64, N2>;
    using map = be::fragment_map<64, N2 / 2>;
    for (int bit = 0; 1 << bit < N2 / 2; ++bit)
      for (int lane = 0; lane < be::worker_lanes; ++lane)
        for (int k = 0; k < map::count / map::rows_per_lane; ++k)
          if (map::lane_col(lane) + map::col(map::element(0, k)) == 1 << bit)
            of[bit] = (pairs::lane_col(lane) + pairs::col(pairs::element(0, 2 * k))) / 2;
  }
};
template <int N2> TK_DEVICE int paired_column(int col) {
  constexpr column_bits<N2> bits;
  int pair = 0;
  TK_UNROLL
  for (int bit = 0; bit < 8; ++bit) pair += (col >> bit & 1) * bits.of[bit];
  return pair;
}
// body(pair, i): where the pair of neighbours lies that becomes element i.
template <int N2, class Body> TK_DEVICE void for_each_pair(Body body) {
  using pairs = be::fragment_map<64, N2>;
  using map = be::fragment_map<64, N2 / 2>;
  TK_UNROLL
  for (int i = 0; i < pairs::count; i += 2)
    body(i, map::element(pairs::row_index(i), pairs::nth(i) / 2));
}

template <int N2> struct whole_factors {
  static constexpr int M = N2 / 2, points = 64 * M;
  static_assert(M >= 16 && M < 64, "z has a product's columns, of one part");
  using turns = packed_complex_tile<64, M>;
  shared_tile<fp16, 64, 64> cos1, sin1;  // [n1, k1]
  second_factors<M> second;
  shared_packed<64, M> re, im;

  TK_DEVICE void fill(int index, int workers) {
    int const first = index * be::worker_lanes + be::worker_lane(),
              lanes = workers * be::worker_lanes;
    for_each_roots<64, 64>(
        first, lanes,
        [](int n1, int k1) { return unit_root(static_cast<float>(n1 * k1 % 64) * (1.f / 64)); },
        [](int n1) { return unit_root(static_cast<float>(n1) * (1.f / 64)); },
        [&](int row, int col, auto const& x, auto const& y) {
          put_run(cos1, row, col, x);
          put_run(sin1, row, col, y);
        });
    TK_ROLL
    for (int n = first; n < M * (M / 8); n += lanes) {
      int const row = n / (M / 8), col = n % (M / 8) * 8;
      run_of_eight x, y;
      TK_UNROLL
      for (int i = 0; i < 8; ++i) {
        auto const z = second_factor<M>(paired_column<N2>(row), paired_column<N2>(col + i));
        x.x[i] = z.re, y.x[i] = z.im;
      }
      put_run(second.of_re, row, col, scaled(x, 1.f / M));
      put_run(second.of_re, row, M + col, scaled(y, 1.f / M));
      put_run(second.of_im, row, col, scaled(y, -1.f / M));
      put_run(second.of_im, row, M + col, scaled(x, 1.f / M));
    }
    be::publish_shared();
    tk::fill(re, im, index, workers, [](int k1, int col) {
      return unit_root(static_cast<float>(k1 * paired_column<N2>(col)) * (1.f / points));
    });
  }
  TK_DEVICE turns all_turns() const {
    turns t;
    load(t.re, re);
    load(t.im, im);
    return t;
  }
};

// each(i, y): of Z / M of each of S windows, and then of its Z' / M, the i-th of them all, after
// ahead(i), as transform() has it.
template <int N2, int S, class Worker, class Ahead, class Each>
TK_DEVICE void transform_whole(shared_tile<fp16, 64, S * N2> const& x, whole_factors<N2> const& f,
                               Worker const& w, Ahead ahead, Each each) {
  constexpr int M = N2 / 2;
  packed_complex<M> d[2 * S];
  {
    complex_tile<64, S * N2> sum;
    mm_atb(sum.re, f.cos1, x);
    mm_atb(sum.im, f.sin1, x);
    ahead(0);
    wait<0>(sum.re, sum.im);
    auto const t = f.all_turns();
    TK_UNROLL
    for (int s = 0; s < S; ++s) {
      auto const re = columns<N2>(sum.re, s), im = columns<N2>(sum.im, s);
      complex_tile<64, M> z, other;
      for_each_pair<N2>([&](int pair, int i) {
        z.re.e[i] = re.e[pair] - im.e[pair + 1];
        z.im.e[i] = im.e[pair] + re.e[pair + 1];
        other.re.e[i] = re.e[pair] + im.e[pair + 1];
        other.im.e[i] = im.e[pair] - re.e[pair + 1];
      });
      auto const push = [&](packed_complex<M>& to, complex_tile<64, M> const& y) {
        auto turned = pack(y);
        multiply(turned, 0, t);
        to.push(turned);
      };
      push(d[2 * s], z);
      push(d[2 * s + 1], other);
    }
  }
  w.sync();  // all products have read x
  multiply_second<false>(d, f, 0, ahead, each);
}

// The elements whose spectra p are, times n / 2 / M: put(to, y), as transform_back() has it.
template <int N2, int S, class Worker, class Put>
TK_DEVICE void transform_whole_back(window_tiles<N2, S>& to, packed_complex<N2 / 2> const (&p)[S],
                                    whole_factors<N2> const& f, Worker const& w, Put put) {
  constexpr int V = S * N2;
  // Of e + i o the real part is e, and of the same times -i it is o.
  packed_complex_tile<64, V> both;
  auto const t = f.all_turns();
  multiply_second<true>(
      p, f, 0, [](int) {},
      [&](int s, auto& d) {
        auto z = pack(d);
        multiply_conjugate(z, 0, t);
        packed_complex_tile<64, N2> y;
        for_each_pair<N2>([&](int pair, int i) {
          std::uint32_t const by = i % 2 * 16, re = z.re.e[i / 2] >> by & 0xffff,
                              im = z.im.e[i / 2] >> by & 0xffff;
          y.re.e[pair / 2] = im << 16 | re;
          y.im.e[pair / 2] = (re ^ 0x8000) << 16 | im;
        });
        put_part(both, s, y);
      });
  store_relaxed(to[0][0], both.re);
  store_relaxed(to[0][1], both.im);
  be::publish_shared();
  w.sync();
  reg_tile<float, 64, V> y;
  mm_ab(y, f.cos1, to[0][0]);
  mma_ab(y, f.sin1, to[0][1]);
  wait<0>(y);
  w.sync();  // all products have read
  put(to[0], y);
}

}  // namespace tk
