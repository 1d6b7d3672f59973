// SPDX-License-Identifier: MIT
// Spectra of filters, in pieces of L = N / 2 taps, the second half of each window 0. They meet
// every sequence of their channels, so each factor of their products is two fp16 numbers, of which
// the lower one is what the upper leaves: all but the product of the lower ones is summed, and
// about 20 bits are right, until some are rounded to fp16.
//
// Shapes    k[h, nk] fp32; spectra[h, pieces].
// Order     a worker has a piece, and keeps what it reads of it until its scale is known.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/signals.hpp"
#include "ops/fft_conv/transform.hpp"

namespace tk {

// Upper and lower parts.
template <int R, int C> struct split_tile {
  shared_tile<fp16, R, C> hi, lo;

  TK_DEVICE void put(int row, int col, run_of_eight y) {
    put_run(hi, row, col, y);
    TK_UNROLL
    for (float& e : y.x) {
      auto const upper = be::pack(fp16{}, e, 0.f);
      e -= half_of<fp16>(upper, 0);
    }
    put_run(lo, row, col, y);
  }
};
template <int N2> struct split_parts {
  packed_parts<N2> hi, lo;
  TK_DEVICE void push(reg_tile<float, 64, fft_sizes<N2>::V>& x) {
    reg_tile<fp16, 64, fft_sizes<N2>::V> upper, lower;
    upper = cast<fp16>(x);
    lower = cast<fp16>(x - upper);
    hi.push(upper);
    lo.push(lower);
  }
};

template <int N2> struct filter_spectra {
  using sizes = fft_sizes<N2>;
  static constexpr int P = sizes::P, V = sizes::V, L = sizes::half;
  static constexpr int workers = be::tune_fft_workers(N2, false).filters, cluster = 1, stages = 1,
                       own_slots = 1;
  struct split_complex {
    split_parts<N2> re, im;
  };
  using factors = split_tile<V, V>[P][P];
  struct args {
    float const* k;
    std::int64_t h_stride;
    int nk, h, pieces;
    bool repeats;  // windows will be blocks that stand beside themselves (windows.hpp)
    spectra<N2, fp16> to;
    bool whole;  // which has fp32 numbers
  };
  struct stage {};
  struct own {};
  struct scratch {
    split_tile<64, V> x[P];  // and before that, where lanes exchange magnitudes
  };
  struct resident {
    split_tile<64, 64> cos1, sin1;
    factors cos2, sin2;
  };
  struct task {
    int first, steps;  // of the workers
  };

  static TK_BOTH int tasks(args const& a) { return ceil_div(a.h * a.pieces, workers); }
  static TK_BOTH task task_at(args const&, int i, int) { return {i * workers, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  static TK_DEVICE void load_own(own&, args const&, task const&, int, be::arrival) {}
  template <class Worker>
  static TK_DEVICE void fill_resident(Worker const& w, resident& r, args const&) {
    fill(w, r.cos1, r.sin1, [](int n1, int k1) { return first_factor(n1, k1); });
    TK_ROLL
    for (int i = 0; i < P * P; ++i) {
      int const k = i / P, n = i % P;
      fill(w, r.cos2[k][n], r.sin2[k][n],
           [=](int row, int col) { return second_factor<N2>(k * V + row, n * V + col); });
    }
    be::publish_shared();
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const piece = t.first + c.w.id();
    if (piece >= a.h * a.pieces) return;
    auto& x = c.scratch.x;
    auto const& f = c.resident;
    gated_sequence<float> const k{a.k + piece / a.pieces * a.h_stride, nullptr, a.nk, false};
    int const at = piece % a.pieces * L;
    using runs = lane_runs<N2>;
    run_of_eight taps[runs::each];
    magnitudes size;
    TK_UNROLL
    for (int i = 0; i < runs::each; ++i) taps[i] = k.read(at + 8 * runs::nth(i));
    TK_UNROLL
    for (auto const& run : taps) size.add(run);
    size = of_all_lanes(c.w, size, reuse<magnitudes_exchange>(x));
    c.w.sync();  // all have exchanged
    float const scale = scale_to(size.largest, 8), bound = a.repeats ? 2 * size.sum : size.sum,
                back = inverse_of_power(scale) * scale_of_spectrum(bound);
    TK_UNROLL
    for (int i = 0; i < runs::each; ++i) {
      run_place<N2> const to(runs::nth(i));
      x[to.part].put(to.row, to.col, scaled(taps[i], scale));
    }
    be::publish_shared();
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
    TK_ROLL
    for (int part = 0; part < P; ++part) {
      complex_tile<64, V> s;
      multiply_split(s.re, d.re, f.cos2, part);
      subtract_split(s.re, d.im, f.sin2, part);
      multiply_split(s.im, d.re, f.sin2, part);
      add_split(s.im, d.im, f.cos2, part);
      wait<0>(s.re, s.im);
      s.re = s.re * back;
      s.im = s.im * back;
      if (a.repeats) repeat(s);
      int const first = part * (V / sizes::part);
      if (a.whole) tk::store(of_fp32(a.to), piece, first, s);
      else tk::store(a.to, piece, first, s);
    }
    if (c.w.leader()) a.to.bounds[piece] = bound;
    c.w.sync();  // all products have read the filter
  }

 private:
  static TK_DEVICE spectra<N2, float> of_fp32(spectra<N2, fp16> const& x) {
    return {{reinterpret_cast<float*>(x.tiles.data)}, x.bounds};
  }
  // The spectrum of a window [x, -x] is that of x times 1 - e^(i pi (k1 + 1/2)) = 1 - i (-1)^k1.
  static TK_DEVICE void repeat(complex_tile<64, V>& s) {
    using map = be::fragment_map<64, V>;
    map::for_each([&](int i, int r, int) {
      int const k1 = map::lane_row(be::worker_lane()) + map::row(r);
      float const sign = k1 % 2 ? -1.f : 1.f, re = s.re.e[i], im = s.im.e[i];
      s.re.e[i] = re + sign * im;
      s.im.e[i] = im - sign * re;
    });
  }
  template <class Worker, int R, int C, class Root>
  static TK_DEVICE void fill(Worker const& w, split_tile<R, C>& re, split_tile<R, C>& im,
                             Root root) {
    constexpr int across = C / 8;
    TK_ROLL
    for (int n = w.id() * be::worker_lanes + w.lane(); n < R * across;
         n += workers * be::worker_lanes) {
      int const row = n / across, col = n % across * 8;
      run_of_eight x, y;
      TK_UNROLL
      for (int i = 0; i < 8; ++i) {
        auto const z = root(row, col + i);
        x.x[i] = z.re, y.x[i] = z.im;
      }
      re.put(row, col, x);
      im.put(row, col, y);
    }
  }
  static TK_DEVICE void multiply_transposed(reg_tile<float, 64, V>& d, split_tile<64, 64> const& a,
                                            split_tile<64, V> const& b) {
    mm_atb(d, a.hi, b.hi);
    mma_atb(d, a.lo, b.hi);
    mma_atb(d, a.hi, b.lo);
  }
  // d = a times the n-th columns of f, or d += or -= it.
  static TK_DEVICE void multiply_split(reg_tile<float, 64, V>& d, split_parts<N2> const& a,
                                       factors const& f, int n) {
    TK_UNROLL
    for (int k = 0; k < P; ++k) {
      if (k > 0) mma_ab(d, a.hi.of[k], f[k][n].hi);
      else mm_ab(d, a.hi.of[k], f[k][n].hi);
      mma_ab(d, a.lo.of[k], f[k][n].hi);
      mma_ab(d, a.hi.of[k], f[k][n].lo);
    }
  }
  static TK_DEVICE void add_split(reg_tile<float, 64, V>& d, split_parts<N2> const& a,
                                  factors const& f, int n) {
    TK_UNROLL
    for (int k = 0; k < P; ++k) {
      mma_ab(d, a.hi.of[k], f[k][n].hi);
      mma_ab(d, a.lo.of[k], f[k][n].hi);
      mma_ab(d, a.hi.of[k], f[k][n].lo);
    }
  }
  static TK_DEVICE void subtract_split(reg_tile<float, 64, V>& d, split_parts<N2> const& a,
                                       factors const& f, int n) {
    TK_UNROLL
    for (int k = 0; k < P; ++k) {
      mms_ab(d, a.hi.of[k], f[k][n].hi);
      mms_ab(d, a.lo.of[k], f[k][n].hi);
      mms_ab(d, a.hi.of[k], f[k][n].lo);
    }
  }
};

}  // namespace tk
