// SPDX-License-Identifier: MIT
// Fourier transforms for circular convolutions of n = 64 N2 real numbers, at whole frequencies:
// even and odd elements, e and o, are one sequence of n / 2 complex numbers, z = e + i o. With m =
// M n1 + j, k = k1 + 64 k2, M = N2 / 2,
//   Z[k] = sum over m of z[m] e^(2 pi i m k / (n / 2))
//        = sum over j of F[j, k2] t[k1, j] sum over n1 of C[n1, k1] z[n1, j],
//   C = e^(2 pi i n1 k1 / 64),  t = e^(2 pi i j k1 / (64 M)),  F = e^(2 pi i j k2 / M)
// and Z' likewise of e - i o. The first product is of real numbers, of e and o, whose sums then
// meet as those of z. With K and L the spectra of a filter's even and odd taps, w[k] = e^(2 pi i k
// / (n / 2)), a circular convolution's even and odd elements have the spectrum
//   Y = A Z + B Z',   A = K + (1 - w) i L / 2,   B = (1 + w) i L / 2
// and a correlation's conj(A) Z - conj(B) Z'. So of Y there is half of what a window with zeros
// beside it would have (transform.hpp), and no frequency is a special case.
// Shapes    x in a shared tile [64, N2], each row's even elements before its odd ones, or S of them
//           side by side; Z and Z'[k1, k2] = [64, M] in registers, A and B in global memory where a
//           spectrum of N2 columns is.
// Numerics  those of transform.hpp: Z / M is below 2^8, and |A| + |B| at most twice the sum of the
//           taps' magnitudes.
#pragma once
#include "ops/fft_conv/transform.hpp"

namespace tk {

template <int N2> struct whole_factors {
  static constexpr int M = N2 / 2, points = 64 * M;
  static_assert(M >= 16 && M < 64, "z has a product's columns, of one part");
  using turns = packed_complex_tile<64, M>;
  shared_tile<fp16, 64, 64> cos, sin;  // [n1, k1], symmetric
  second_factors<M, true> second;
  shared_packed<64, M> re, im;

  TK_DEVICE void fill(int index, int workers) {
    int const first = index * be::worker_lanes + be::worker_lane(),
              lanes = workers * be::worker_lanes;
    for_each_roots<64, 64>(
        first, lanes, [](int n1, int k1) { return second_turns<64>(n1, k1); },
        [&](int row, int col, auto const& x, auto const& y) {
          put_run(cos, row, col, x);
          put_run(sin, row, col, y);
        });
    second.fill(first, lanes);
    tk::fill(re, im, index, workers, [](int k1, int col) {
      return rounded_root(static_cast<float>(k1 * col) * (1.f / points));
    });
  }
  TK_DEVICE turns all_turns() const {
    turns t;
    load(t.re, re);
    load(t.im, im);
    return t;
  }
};

// C as a left operand that stays in registers.
struct whole_roots {
  reg_tile<fp16, 64, 64> cos, sin;
  template <int N2> TK_DEVICE explicit whole_roots(whole_factors<N2> const& f) {
    load(cos, f.cos);
    load(sin, f.sin);
  }
};

// each(i, y): of Z / M of each of S windows, and then of its Z' / M, the i-th of them all. early()
// is called while the first products run, and late() after them, for loads that should be on their
// way.
template <int N2, int S, class Worker, class Early, class Late, class Each>
TK_DEVICE void transform_whole(shared_tile<fp16, 64, S * N2> const& x, whole_roots const& roots,
                               whole_factors<N2> const& f, Worker const& w, Early early, Late late,
                               Each each) {
  constexpr int M = N2 / 2;
  packed_complex<M> d[2 * S];
  {
    packed_complex_tile<64, S * N2> sum;
    mm_ab(sum.re, roots.cos, x);
    mm_ab(sum.im, roots.sin, x);
    early();
    wait<0>(sum.re, sum.im);
    auto const t = f.all_turns();
    auto const half = [&](int i) {
      return packed_complex_tile<64, M>{columns<M>(sum.re, i), columns<M>(sum.im, i)};
    };
    TK_UNROLL
    for (int s = 0; s < S; ++s) {
      auto const even = half(2 * s), odd = half(2 * s + 1);
      auto z = add_i_times(even, odd), other = subtract_i_times(even, odd);
      multiply(z, 0, t);
      multiply(other, 0, t);
      d[2 * s].push(z);
      d[2 * s + 1].push(other);
    }
  }
  late();
  w.sync();  // all products have read x
  multiply_second<false, (S > 1)>(d, f, 0, [](int) {}, each);
}

// The elements whose spectra p are, times n / 2 / M: put(to, y), as transform_back() has it, each
// row's even ones before its odd ones.
template <int N2, int S, class Worker, class Meanwhile, class Put>
TK_DEVICE void transform_whole_back(window_tiles<N2, S>& to, packed_complex<N2 / 2> const (&p)[S],
                                    whole_roots const& roots, whole_factors<N2> const& f,
                                    Worker const& w, Meanwhile meanwhile, Put put) {
  constexpr int M = N2 / 2, V = S * N2;
  // Of e + i o the real part is e, and of the same times -i it is o.
  packed_complex_tile<64, V> both;
  auto const t = f.all_turns();
  multiply_second<true>(
      p, f, 0, [](int) {},
      [&](int s, auto& z) {
        multiply_conjugate(z, 0, t);
        put_part(both, 2 * s, packed_complex_tile<64, M>{z.re, z.im});
        put_part(both, 2 * s + 1, packed_complex_tile<64, M>{z.im, negative(z.re)});
      });
  store_relaxed(to[0][0], both.re);
  store_relaxed(to[0][1], both.im);
  be::publish_shared();
  w.sync();
  reg_tile<float, 64, V> y;
  mm_ab(y, roots.cos, to[0][0]);
  mma_ab(y, roots.sin, to[0][1]);
  meanwhile();
  wait<0>(y);
  w.sync();  // all products have read
  put(to[0], y);
}

}  // namespace tk
