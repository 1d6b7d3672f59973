// SPDX-License-Identifier: MIT
// Spectra of filters, in pieces of L = N / 2 taps, the second half of each window 0. They meet
// every sequence of their channels, so each factor of their products is two fp16 numbers, of which
// the lower one is what the upper leaves: all but the product of the lower ones is summed, and
// about 20 bits are right.
//
// Shapes    k[h, nk] fp32; spectra[h, pieces].
// Order     a worker has a piece.
#pragma once
#include "ops/fft_conv/signals.hpp"
#include "ops/fft_conv/transform.hpp"

namespace tk {

// Upper and lower parts.
template <int R, int C> struct split_tile {
  shared_tile<fp16, R, C> hi, lo;

  template <class F> TK_DEVICE void fill(int first, int lanes, F f) {
    fill_runs(hi, first, lanes, f);
    fill_runs(lo, first, lanes, [&](int row, int col) {
      auto y = f(row, col);
      TK_UNROLL
      for (float& e : y.x) {
        auto const upper = be::pack(fp16{}, e, 0.f);
        e -= half_of<fp16>(upper, 0);
      }
      return y;
    });
  }
};
template <int N2> struct split_parts {
  packed_parts<N2> hi, lo;
  TK_DEVICE void push(reg_tile<float, 64, fft_sizes<N2>::V>& x) {
    hi.push(x);
    x = x - hi.of[fft_sizes<N2>::P - 1];
    lo.push(x);
  }
};

template <int N2> struct filter_spectra {
  using sizes = fft_sizes<N2>;
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1, L = sizes::half,
                       V = sizes::V;
  static constexpr int P = sizes::P;
  struct split_complex {
    split_parts<N2> re, im;
  };
  using factors = split_tile<V, V>[P][P];
  struct args {
    float const* k;
    std::int64_t h_stride;
    int nk, h, pieces;
    spectra<N2> to;
  };
  struct stage {};
  struct own {};
  struct scratch {
    split_tile<64, V> x[P];
    magnitudes_exchange exchange;
  };
  struct resident {
    split_tile<64, 64> cos1, sin1;
    factors cos2, sin2;
  };
  struct task {
    int h, piece, steps;
  };

  static TK_BOTH int tasks(args const& a) { return a.h * a.pieces; }
  static TK_BOTH task task_at(args const& a, int i, int) { return {i / a.pieces, i % a.pieces, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  static TK_DEVICE void load_own(own&, args const&, task const&, int, be::arrival) {}
  template <class Worker>
  static TK_DEVICE void fill_resident(Worker const& w, resident& r, args const&) {
    auto const first = [](int n1, int k1) { return first_factor(n1, k1); };
    r.cos1.fill(w.lane(), be::worker_lanes, roots<true>(first));
    r.sin1.fill(w.lane(), be::worker_lanes, roots<false>(first));
    TK_ROLL
    for (int i = 0; i < P * P; ++i) {
      int const k = i / P, n = i % P;
      auto const second = [=](int row, int col) {
        return second_factor<N2>(k * V + row, n * V + col);
      };
      r.cos2[k][n].fill(w.lane(), be::worker_lanes, roots<true>(second));
      r.sin2[k][n].fill(w.lane(), be::worker_lanes, roots<false>(second));
    }
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto& x = c.scratch.x;
    auto const& f = c.resident;
    gated_sequence<float> const k{a.k + t.h * a.h_stride, nullptr, a.nk, false};
    int const at = t.piece * L;
    magnitudes size;
    TK_ROLL
    for (int i = 0; i < lane_runs<N2>::each; ++i) size.add(k.read(at + 8 * lane_runs<N2>::nth(i)));
    size = of_all_lanes(c.w, size, c.scratch.exchange);
    float const scale = scale_to(size.largest, 8), back = inverse_of_power(scale);
    TK_ROLL
    for (int part = 0; part < P; ++part)
      x[part].fill(c.w.lane(), be::worker_lanes, [&](int row, int col) {
        return scaled(k.read(at + row * N2 + part * V + col), scale);
      });
    c.w.sync();
    split_complex d;
    TK_ROLL
    for (int part = 0; part < P; ++part) {
      complex_tile<64, V> sum;
      multiply_transposed(sum.re, f.cos1, x[part]);
      multiply_transposed(sum.im, f.sin1, x[part]);
      wait<0>(sum.re, sum.im);
      turn<1>(sum, 0.5f, part * V, sizes::step);
      d.re.push(sum.re);
      d.im.push(sum.im);
    }
    std::int64_t const piece = std::int64_t{t.h} * a.pieces + t.piece;
    TK_ROLL
    for (int part = 0; part < P; ++part) {
      complex_tile<64, V> s;
      multiply_split<false>(s.re, d.im, f.sin2, part);
      wait<0>(s.re);
      s.re = -s.re;
      multiply_split<true>(s.re, d.re, f.cos2, part);
      multiply_split<false>(s.im, d.re, f.sin2, part);
      multiply_split<true>(s.im, d.im, f.cos2, part);
      wait<0>(s.re, s.im);
      s.re = s.re * back;
      s.im = s.im * back;
      tk::store(a.to, piece, part * (V / sizes::part), s);
    }
    if (c.w.leader()) a.to.bounds[piece] = size.sum;
    c.w.sync();  // all have read the filter, and exchanged
  }

 private:
  template <bool Real, class Root> static TK_DEVICE auto roots(Root root) {
    return [root](int row, int col) {
      run_of_eight y;
      TK_UNROLL
      for (int i = 0; i < 8; ++i) {
        auto const z = root(row, col + i);
        y.x[i] = Real ? z.re : z.im;
      }
      return y;
    };
  }
  static TK_DEVICE void multiply_transposed(reg_tile<float, 64, V>& d, split_tile<64, 64> const& a,
                                            split_tile<64, V> const& b) {
    mm_atb(d, a.hi, b.hi);
    mma_atb(d, a.lo, b.hi);
    mma_atb(d, a.hi, b.lo);
  }
  // d = a times the n-th columns of f, or d += it.
  template <bool Keep>
  static TK_DEVICE void multiply_split(reg_tile<float, 64, V>& d, split_parts<N2> const& a,
                                       factors const& f, int n) {
    TK_UNROLL
    for (int k = 0; k < P; ++k) {
      if (Keep || k > 0) mma_ab(d, a.hi.of[k], f[k][n].hi);
      else mm_ab(d, a.hi.of[k], f[k][n].hi);
      mma_ab(d, a.lo.of[k], f[k][n].hi);
      mma_ab(d, a.hi.of[k], f[k][n].lo);
    }
  }
};

}  // namespace tk
