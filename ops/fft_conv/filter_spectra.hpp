// SPDX-License-Identifier: MIT
// Spectra of filters, in pieces of L = N / 2 taps, the second half of each window 0. They meet
// every sequence of their channels, so each factor of their products is two fp16 numbers, of which
// the lower one is what the upper leaves: all but the product of the lower ones is summed, and
// about 20 bits are right. Shapes    k[h, nk] fp32; spectra[h, pieces]. Order     a worker has a
// piece.
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
template <int R, int C> struct split_operand {
  reg_tile<fp16, R, C> hi, lo;
  // The part-th V columns.
  template <int V> TK_DEVICE void put(int part, reg_tile<float, R, V> const& x) {
    put_columns(hi, part, x);
    reg_tile<fp16, R, V> const upper = cast<fp16>(x);
    reg_tile<float, R, V> rest;
    rest = x - upper;
    put_columns(lo, part, rest);
  }
};

template <int N2> struct filter_spectra {
  using sizes = fft_sizes<N2>;
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1, L = sizes::half,
                       V = sizes::V;
  struct split_complex {
    split_operand<64, N2> re, im;
  };
  struct args {
    float const* k;
    std::int64_t h_stride, nk;
    int h, pieces;
    spectra<N2> to;
  };
  struct stage {};
  struct own {};
  struct scratch {
    split_tile<64, N2> x;
    magnitudes_exchange exchange;
  };
  struct resident {
    split_tile<64, 64> cos1, sin1;
    split_tile<N2, N2> cos2, sin2;
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
    auto const second = [](int n2, int k2) { return second_factor<N2>(n2, k2); };
    r.cos1.fill(w.lane(), be::worker_lanes, roots<true>(first));
    r.sin1.fill(w.lane(), be::worker_lanes, roots<false>(first));
    r.cos2.fill(w.lane(), be::worker_lanes, roots<true>(second));
    r.sin2.fill(w.lane(), be::worker_lanes, roots<false>(second));
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    auto& x = c.scratch.x;
    auto const& f = c.resident;
    gated_sequence<float> const k{a.k + t.h * a.h_stride, nullptr, a.nk, false};
    std::int64_t const at = std::int64_t{t.piece} * L;
    magnitudes size;
    add_to(size, k, at, L, c.w);
    size = of_all_lanes(c.w, size, c.scratch.exchange);
    float const scale = scale_to(size.largest, 8), back = inverse_of_power(scale);
    x.fill(c.w.lane(), be::worker_lanes,
           [&](int row, int col) { return scaled(k.read(at + row * N2 + col), scale); });
    c.w.sync();
    split_complex d;
    TK_UNROLL
    for (int part = 0; part < N2 / V; ++part) {
      complex_tile<64, V> sum;
      multiply_transposed(sum.re, f.cos1, x, part);
      multiply_transposed(sum.im, f.sin1, x, part);
      wait<0>(sum.re, sum.im);
      turn<1>(sum, 0.5f, part * V, sizes::step);
      d.re.put(part, sum.re);
      d.im.put(part, sum.im);
    }
    std::int64_t const piece = std::int64_t{t.h} * a.pieces + t.piece;
    TK_UNROLL
    for (int part = 0; part < N2 / V; ++part) {
      complex_tile<64, V> s;
      multiply<false>(s.re, d.im, f.sin2, part);
      wait<0>(s.re);
      s.re = -s.re;
      multiply<true>(s.re, d.re, f.cos2, part);
      multiply<false>(s.im, d.re, f.sin2, part);
      multiply<true>(s.im, d.im, f.cos2, part);
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
                                            split_tile<64, N2> const& b, int part) {
    mm_atb(d, a.hi, columns_of<V>(b.hi, part));
    mma_atb(d, a.lo, columns_of<V>(b.hi, part));
    mma_atb(d, a.hi, columns_of<V>(b.lo, part));
  }
  // d = a b, or d += a b, of b the part-th V columns.
  template <bool Keep>
  static TK_DEVICE void multiply(reg_tile<float, 64, V>& d, split_operand<64, N2> const& a,
                                 split_tile<N2, N2> const& b, int part) {
    if constexpr (Keep) mma_ab(d, a.hi, factors_of<V>(b.hi, part));
    else mm_ab(d, a.hi, factors_of<V>(b.hi, part));
    mma_ab(d, a.lo, factors_of<V>(b.hi, part));
    mma_ab(d, a.hi, factors_of<V>(b.lo, part));
  }
};

}  // namespace tk
