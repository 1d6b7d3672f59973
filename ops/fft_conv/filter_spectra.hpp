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
  TK_DEVICE explicit split_operand(reg_tile<float, R, C> const& x) : hi(cast<fp16>(x)) {
    lo = cast<fp16>(x - hi);
  }
};

template <int N2> struct filter_spectra {
  using sizes = fft_sizes<N2>;
  static constexpr int workers = 1, cluster = 1, stages = 1, own_slots = 1, L = sizes::half,
                       V = N2 < 64 ? N2 : 64;
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
    float exchange[be::worker_warps];
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
    float const most = max_of_lanes(c.w, largest_of(k, at, L, c.w), c.scratch.exchange);
    float const scale = scale_to(most, 8), back = inverse_of_power(scale);
    x.fill(c.w.lane(), be::worker_lanes,
           [&](int row, int col) { return scaled(k.read(at + row * N2 + col), scale); });
    c.w.sync();
    typename sizes::values d;
    multiply_transposed(d.re, f.cos1, x);
    multiply_transposed(d.im, f.sin1, x);
    wait<0>(d.re, d.im);
    turn<1>(d, 0.5f, sizes::step);
    split_operand const re(d.re), im(d.im);
    TK_UNROLL
    for (int part = 0; part < N2 / V; ++part) {
      complex_tile<64, V> s;
      mm_ab(s.re, im.hi, columns<V>(f.sin2.hi, part));
      mma_ab(s.re, im.lo, columns<V>(f.sin2.hi, part));
      mma_ab(s.re, im.hi, columns<V>(f.sin2.lo, part));
      wait<0>(s.re);
      s.re = -s.re;
      multiply(s.re, re, f.cos2, part);
      mm_ab(s.im, re.hi, columns<V>(f.sin2.hi, part));
      mma_ab(s.im, re.lo, columns<V>(f.sin2.hi, part));
      mma_ab(s.im, re.hi, columns<V>(f.sin2.lo, part));
      multiply(s.im, im, f.cos2, part);
      wait<0>(s.re, s.im);
      s.re = s.re * back;
      s.im = s.im * back;
      tk::store(a.to, std::int64_t{t.h} * a.pieces + t.piece, part * V / sizes::part, s);
    }
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
  static TK_DEVICE void multiply_transposed(reg_tile<float, 64, N2>& d, split_tile<64, 64> const& a,
                                            split_tile<64, N2> const& b) {
    mm_atb(d, a.hi, b.hi);
    mma_atb(d, a.lo, b.hi);
    mma_atb(d, a.hi, b.lo);
  }
  // d += a b, of b the part-th V columns.
  static TK_DEVICE void multiply(reg_tile<float, 64, V>& d, split_operand<64, N2> const& a,
                                 split_tile<N2, N2> const& b, int part) {
    mma_ab(d, a.hi, columns<V>(b.hi, part));
    mma_ab(d, a.lo, columns<V>(b.hi, part));
    mma_ab(d, a.hi, columns<V>(b.lo, part));
  }
};

}  // namespace tk
