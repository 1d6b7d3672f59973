// SPDX-License-Identifier: MIT
// Spectra of filters, in pieces of L = N / 2 taps, the second half of each window 0.
// Shapes    k[h, nk] fp32; spectra[h, pieces], or A and B of whole_transform.hpp side by side.
// Numerics  those that are kept as fp16 are made as those of windows are. Of those that are kept as
//           fp32 each factor of the products is two fp16 numbers, of which the lower one is what
//           the upper leaves: all but the product of the lower ones is summed, and about 20 bits
//           are right.
// Order     a worker has a piece, and keeps what it reads of it until its scale is known.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/whole_transform.hpp"
#include "ops/fft_conv/windows.hpp"

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

template <int N2, class Kept> struct filter_args {
  float const* k;
  std::int64_t h_stride;
  int nk, h, pieces;
  bool repeats;  // windows will be blocks that stand beside themselves (windows.hpp)
  spectra<N2, Kept> to;
  int each;  // pieces of a block, by whose workers in turn

  TK_BOTH int count() const { return h * pieces; }
  TK_DEVICE float const* taps(int piece) const { return k + piece / pieces * h_stride; }
  TK_DEVICE int first_tap(int piece) const { return piece % pieces * fft_sizes<N2>::half; }
};
// Has caches fetch the taps of a piece.
template <int N2, class Kept> TK_DEVICE void prefetch(filter_args<N2, Kept> const& a, int piece) {
  constexpr int line = 32, lines = fft_sizes<N2>::half / line;  // of 128 bytes
  float const* const k = a.taps(piece);
  int const first = a.first_tap(piece);
  TK_UNROLL
  for (int i = 0; i < lines; i += be::worker_lanes) {
    int const nth = i + be::worker_lane(), p = first + nth * line;
    if (nth < lines && p < a.nk) be::prefetch(k + p);
  }
}
// The taps of a piece.
template <int N2> struct filter_piece {
  using runs = lane_runs<N2>;
  run_of_eight taps[runs::each];
  magnitudes size;
  template <class Kept> TK_DEVICE filter_piece(filter_args<N2, Kept> const& a, int piece) {
    gated_sequence<float> const k{a.taps(piece), nullptr, a.nk, false};
    int const at = a.first_tap(piece);
    TK_UNROLL
    for (int i = 0; i < runs::each; ++i) taps[i] = k.read(at + 8 * runs::nth(i));
    TK_UNROLL
    for (auto const& run : taps) size.add(run);
  }
  // put(place, run) for each run, scaled.
  template <bool Split = false, class Put> TK_DEVICE void put(float scale, Put put) const {
    TK_UNROLL
    for (int i = 0; i < runs::each; ++i)
      put(run_place<N2, Split>(runs::nth(i)), scaled(taps[i], scale));
    be::publish_shared();
  }
};
// A bound of a spectrum's numbers.
template <int N2, class Kept>
TK_DEVICE float spectrum_bound(filter_args<N2, Kept> const& a, magnitudes const& size) {
  return a.repeats ? 2 * size.sum : size.sum;
}
// The spectrum of a window [x, -x] is that of x times 1 - e^(i pi (k1 + 1/2)) = 1 - i (-1)^k1.
template <int V> TK_DEVICE void repeat(complex_tile<64, V>& s) {
  using map = be::fragment_map<64, V>;
  map::for_each([&](int i, int r, int) {
    int const k1 = map::lane_row(be::worker_lane()) + map::row(r);
    float const sign = k1 % 2 ? -1.f : 1.f, re = s.re.e[i], im = s.im.e[i];
    s.re.e[i] = re + sign * im;
    s.im.e[i] = im - sign * re;
  });
}

// Kept as fp16; those of blocks that stand beside themselves maybe at whole frequencies.
template <int N2, class Factors = fft_factors<N2, in_pairs<bf16>>>
struct rounded_filter_spectra
    : fft_workers<N2, in_pairs<bf16>, be::tune_fft_workers(N2, in_pairs<bf16>).windows, 1,
                  Factors> {
  using base =
      fft_workers<N2, in_pairs<bf16>, be::tune_fft_workers(N2, in_pairs<bf16>).windows, 1, Factors>;
  using sizes = typename base::sizes;
  using args = filter_args<N2, fp16>;
  static constexpr bool whole = std::is_same_v<Factors, whole_factors<N2>>;
  static TK_BOTH int tasks(args const& a) { return ceil_div(a.count(), a.each); }
  static TK_BOTH typename base::task task_at(args const& a, int i, int) { return {i * a.each, 0}; }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const end = t.first + a.each < a.count() ? t.first + a.each : a.count();
    TK_ROLL
    for (int piece = t.first + c.w.id(); piece < end; piece += base::workers) {
      if (piece + base::workers < end) prefetch(a, piece + base::workers);
      transform_piece(c, a, piece);
    }
  }

 private:
  template <class Context>
  static TK_DEVICE void transform_piece(Context& c, args const& a, int piece) {
    filter_piece<N2> const k(a, piece);
    auto const size = of_all_lanes(c.w, k.size, c.scratch.exchange);
    float const scale = scale_to(size.largest, window_bits), bound = spectrum_bound(a, size),
                back = inverse_of_power(scale) * N2 * scale_of_spectrum(bound);
    k.template put<whole>(
        scale, [&](auto const& to, run_of_eight const& y) { to.put(c.scratch.x[to.part][0], y); });
    c.w.sync();
    if constexpr (whole) transform_whole_piece(c, a, piece, back / 8);
    else transform_piece_between(c, a, piece, back);
    // All have exchanged: there was a barrier.
    if (c.w.leader()) a.to.bounds[piece] = bound;
  }
  template <class Context>
  static TK_DEVICE void transform_piece_between(Context& c, args const& a, int piece, float back) {
    transform<false, N2, 1>(
        c.scratch.x, c.resident, c.w, [](int, int) {},
        [&](int part, int, auto& y) {
          complex_tile<64, sizes::V> s = unpack(y);
          s.re = s.re * back;
          s.im = s.im * back;
          if (a.repeats) repeat(s);
          store(a.to, piece, part * (sizes::V / sizes::part), s);
        });
  }
  // A and B of whole_transform.hpp, where Z and Z' are K + i L and K - i L; 4 A = 2 (Z + Z') + (1 -
  // w) (Z - Z') times `quarter`, and likewise B.
  template <class Context>
  static TK_DEVICE void transform_whole_piece(Context& c, args const& a, int piece, float quarter) {
    constexpr int M = N2 / 2;
    using map = be::fragment_map<64, M>;
    packed_complex_tile<64, M> first;
    transform_whole<N2, 1>(
        c.scratch.x[0][0], whole_roots(c.resident), c.resident, c.w, [] {}, [] {},
        [&](int i, packed_complex_tile<64, M>& y) {
          if (i == 0) {
            first = y;
            return;
          }
          auto z = unpack(first), s = unpack(y);
          map::for_each([&](int e, int r, int) {
            int const lane = be::worker_lane(), k1 = map::lane_row(lane) + map::row(r),
                      k2 = map::lane_col(lane) + map::col(e);
            auto const w = rounded_root(static_cast<float>(k1 + 64 * k2) * (1.f / (64 * M)));
            complex_number const k{z.re.e[e] + s.re.e[e], z.im.e[e] + s.im.e[e]},
                l{z.re.e[e] - s.re.e[e], z.im.e[e] - s.im.e[e]}, wl = w * l;
            z.re.e[e] = quarter * (2 * k.re + l.re - wl.re);
            z.im.e[e] = quarter * (2 * k.im + l.im - wl.im);
            s.re.e[e] = quarter * (l.re + wl.re);
            s.im.e[e] = quarter * (l.im + wl.im);
          });
          store(a.to, piece, 0, z);
          store(a.to, piece, M / sizes::part, s);
        });
  }
};

// Kept as fp32.
template <int N2> struct filter_spectra {
  using sizes = fft_sizes<N2>;
  static constexpr int P = sizes::P, V = sizes::V;
  static constexpr int workers = be::tune_fft_workers(N2, false).filters, cluster = 1, stages = 1,
                       own_slots = 1;
  struct split_complex {
    split_parts<N2> re, im;
  };
  using factors = split_tile<V, V>[P][P];
  using args = filter_args<N2, float>;
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

  static TK_BOTH int tasks(args const& a) { return ceil_div(a.count(), workers); }
  static TK_BOTH task task_at(args const&, int i, int) { return {i * workers, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  template <class Worker>
  static TK_DEVICE void fill_resident(Worker const& w, resident& r, args const&) {
    fill(w, r.cos1, r.sin1, [](int n1, int k1) { return unit_root(first_turns(n1, k1)); });
    TK_ROLL
    for (int i = 0; i < P * P; ++i) {
      int const k = i / P, n = i % P;
      fill(w, r.cos2[k][n], r.sin2[k][n],
           [=](int row, int col) { return unit_root(second_turns<N2>(k * V + row, n * V + col)); });
    }
    be::publish_shared();
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const piece = t.first + c.w.id();
    if (piece >= a.count()) return;
    auto& x = c.scratch.x;
    auto const& f = c.resident;
    filter_piece<N2> const k(a, piece);
    auto const size = of_all_lanes(c.w, k.size, reuse<magnitudes_exchange>(x));
    c.w.sync();  // all have exchanged
    float const scale = scale_to(size.largest, 8), bound = spectrum_bound(a, size),
                back = inverse_of_power(scale) * scale_of_spectrum(bound);
    k.put(scale, [&](run_place<N2> const& to, run_of_eight const& y) {
      x[to.part].put(to.row, to.col, y);
    });
    c.w.sync();
    split_complex d;
    TK_ROLL
    for (int part = 0; part < P; ++part) {
      complex_tile<64, V> sum;
      multiply_transposed(sum.re, f.cos1, x[part]);
      multiply_transposed(sum.im, f.sin1, x[part]);
      wait<0>(sum.re, sum.im);
      rotate<1>(sum, 0.5f, part * V, sizes::step);
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
      store(a.to, piece, part * (V / sizes::part), s);
    }
    if (c.w.leader()) a.to.bounds[piece] = bound;
    c.w.sync();  // all products have read the filter
  }

 private:
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
