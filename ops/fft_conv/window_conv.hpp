// SPDX-License-Identifier: MIT
// The long convolution where a filter is one piece: windows of sequences to spectra, times that of
// the filter, and back, all by one worker, and nothing but operands and results in global memory.
// Shapes    x[b, h, n] and a gate (windows.hpp); filters' spectra[h / share]; outputs[b, h, n]
//           (outputs.hpp).
// Numerics  windows are scaled by powers of two, and spectra of filters have been, to what keeps
//           all that follows within fp16 (transform.hpp, whole_transform.hpp).
// Overlap   the workers of a block are each somewhere else: while one loads, others multiply. A
//           worker has neighbouring sequences of a channel, and caches fetch the next one
//           meanwhile.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/whole_transform.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

// How many windows a worker has side by side, and what it is.
template <class T, int N2>
inline constexpr int windows_together = be::tune_fft_workers(N2, in_pairs<T>).together;
template <class T, int N2, class Factors>
using convolving_workers =
    fft_workers<N2, in_pairs<T>, be::tune_fft_workers(N2, in_pairs<T>).convolutions,
                windows_together<T, N2>, Factors>;

template <class T, int N2, bool Both, class Factors = fft_factors<N2, in_pairs<T>>>
struct window_conv : convolving_workers<T, N2, Factors> {
  using base = convolving_workers<T, N2, Factors>;
  using sizes = typename base::sizes;
  static constexpr int S = windows_together<T, N2>;
  struct args {
    window_source<T, N2> from;
    spectra<N2, kept_spectra<T>> filters;  // from that of the first channel on
    int share;                             // channels of a filter
    float sign;                            // -1: a correlation
    block_outputs<T, T, N2, S> to;
    int each;  // windows of a worker, S after another
  };
  // Of all batches of a channel, one after another: they share the filter.
  static TK_BOTH int tasks(args const& a) {
    return ceil_div(a.from.count(), base::workers * a.each);
  }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const first = (t.first + c.w.id()) * a.each,
              end = first + a.each < a.from.count() ? first + a.each : a.from.count();
    if (first >= end) return;
    windows at(a, first, end);
    fetched from;
    auto const fetch = [&] {
      TK_UNROLL
      for (int i = 0; i < team::each; ++i) from[i] = reader::fetch(a.from, at.of[i]);
    };
    if constexpr (early_windows) fetch();
    TK_ROLL
    for (int nth = first; nth < end; nth += S) {
      if (nth + S < end) {
        auto next = at;
        next.advance(a, nth, end);
        TK_UNROLL
        for (auto const& one : next.of) reader::prefetch(a.from, one);
      }
      if constexpr (!early_windows) fetch();
      convolve(c, a, at, from);
      auto const done = at;
      at.advance(a, nth, end);
      // On its way while the others are written; past the end it does no harm.
      if constexpr (early_windows) fetch();
      TK_UNROLL
      for (int i = 0; i < team::each; ++i)
        if (int const s = windows::number(i); nth + s < end)
          a.to.write(c.scratch.x,
                     {done.of[i].b, a.to.first_column + done.of[i].h, done.of[i].block}, s);
      c.w.sync();  // all have read
    }
  }

 private:
  using reader = window_reader<T, N2, Both, S>;
  using team = teams<S>;
  static constexpr bool pairs = in_pairs<T>, whole = std::is_same_v<Factors, whole_factors<N2>>;
  // Whether windows are read while those before them are written: large ones want the registers.
  static constexpr bool early_windows = sizes::P == 1;
  // Of U columns of a filter there are so many parts, of which some are read while products run:
  // fp32 ones would be too large.
  static constexpr int parts = sizes::U / sizes::part,
                       early = !pairs         ? 0
                               : S > 1        ? parts
                               : sizes::P > 1 ? (Both ? 1 : 3)
                                              : ceil_div(parts, 2),
                       held = pairs ? parts : 1;
  using filter_part = typename spectra<N2, kept_spectra<T>>::part;

  // Of S windows from the first-th on those of this lane's team; of what is past the end the last
  // one, again.
  struct windows {
    window_place of[team::each];
    TK_DEVICE windows(args const& a, int first, int end) {
      TK_UNROLL
      for (int i = 0; i < team::each; ++i) {
        int const nth = first + number(i);
        of[i] = window_place::by_channel(a.from, nth < end ? nth : end - 1);
      }
    }
    TK_DEVICE void advance(args const& a, int first, int end) {
      TK_UNROLL
      for (int i = 0; i < team::each; ++i) {
        int const nth = first + number(i), left = end - 1 - nth;
        if (left > 0) of[i].advance(a.from, left < S ? left : S);
      }
    }
    static TK_DEVICE int number(int i) { return team::mine() + i * team::count; }
  };
  using fetched = typename reader::fetched[team::each];

  // What becomes of S windows, in c.scratch.x.
  template <class Context>
  static TK_DEVICE void convolve(Context& c, args const& a, windows const& at,
                                 fetched const& from) {
    auto& x = c.scratch.x;
    auto& of = c.scratch.of;
    side_by_side mine{};  // where there is one
    TK_UNROLL
    for (int i = 0; i < team::each; ++i) {
      int const filter = a.share == 1 ? at.of[i].h : at.of[i].h / a.share, s = windows::number(i);
      float const bound = a.filters.bounds[filter];  // on its way
      auto const scale = reader::template put<false>(x, a.from, at.of[i], from[i],
                                                     c.scratch.exchange, c.w, window_bits, s);
      mine = {filter, inverse_of_power(scale.by) * inverse_of_power(scale_of_spectrum(bound)) *
                          ((whole ? 1 : 2) * N2 * N2 * sizes::step)};
      if (S > 1 && team::lane() == 0) of[s] = mine;
    }
    c.w.sync();
    auto const filter = [&](int s) { return S > 1 ? of[s].filter : mine.filter; };
    auto const put = [&](auto& through, auto& y) {
      a.to.put(through, y, [&](int s) { return S > 1 ? of[s].back : mine.back; });
    };
    if constexpr (whole) convolve_whole(c, a, filter, put);
    else convolve_between(c, a, filter, put);
    c.w.sync();  // it is there
  }
  template <class Context, class Filter, class Put>
  static TK_DEVICE void convolve_between(Context& c, args const& a, Filter filter, Put put) {
    auto& x = c.scratch.x;
    packed_complex<N2> p[S];
    filter_part k[held];
    auto const load_early = [&](int part, int s) {
      TK_UNROLL
      for (int i = 0; i < early; ++i) tk::load(k[i], a.filters, filter(s), part * parts + i);
    };
    transform<Both, N2, S>(
        x, c.resident, c.w,
        [&](int part, int s) {
          if (s == 0) load_early(part, s);
        },
        [&](int part, int s, complex_tile<64, sizes::U>& y) {
          if (s > 0 && filter(s) != filter(s - 1)) load_early(part, s);
          auto const z = product(y, k, a, filter(s), part * parts);
          if constexpr (sizes::P == 1) {
            p[s].push(z);
          } else {  // out of the registers, which the spectrum's other parts need
            tk::store(x[part][0], z.re);
            tk::store(x[part][1], z.im);
          }
        });
    c.w.sync();  // all have exchanged, and what was stored is there
    if constexpr (sizes::P > 1) {
      TK_UNROLL
      for (int part = 0; part < sizes::P; ++part) {
        tk::load(p[0].re.of[part], x[part][0]);
        tk::load(p[0].im.of[part], x[part][1]);
      }
      be::publish_shared();
      c.w.sync();  // all have loaded
    }
    transform_back(x, p, c.resident, c.w, put);
  }
  // At whole frequencies, of windows that are whole sequences (whole_transform.hpp).
  template <class Context, class Filter, class Put>
  static TK_DEVICE void convolve_whole(Context& c, args const& a, Filter filter, Put put) {
    constexpr int M = N2 / 2, each = parts / 2;  // parts of A, and of B
    auto& x = c.scratch.x;
    packed_complex<M> p[S];
    filter_part k[parts];
    packed_complex_tile<64, M> z;
    auto const load_filter = [&](int s) {
      TK_UNROLL
      for (int i = 0; i < parts; ++i) tk::load(k[i], a.filters, filter(s), i);
    };
    auto const times = [&](complex_tile<64, M> const& s, int first) {
      auto y = pack(s);
      TK_UNROLL
      for (int i = 0; i < each; ++i) {
        if (a.sign < 0) multiply_conjugate(y, i, k[first + i]);
        else multiply(y, i, k[first + i]);
      }
      return y;
    };
    transform_whole<N2, S>(
        x[0][0], c.resident, c.w,
        [&](int i) {
          if (i == 0) load_filter(0);
        },
        [&](int i, complex_tile<64, M>& s) {
          if (i % 2 == 0) {
            if (i > 0 && filter(i / 2) != filter(i / 2 - 1)) load_filter(i / 2);
            z = times(s, 0);
          } else {
            auto const y = times(s, each);
            if (a.sign < 0) z = {cast<fp16>(z.re - y.re), cast<fp16>(z.im - y.im)};
            else z = {cast<fp16>(z.re + y.re), cast<fp16>(z.im + y.im)};
            p[i / 2].push(z);
          }
        });
    transform_whole_back(x, p, c.resident, c.w, put);
  }
  // U columns of the spectrum times those of the filter from the first-th part on, of which the
  // early ones are in k, or of its conjugate.
  static TK_DEVICE packed_complex_tile<64, sizes::U> product(complex_tile<64, sizes::U>& s,
                                                             filter_part (&k)[held], args const& a,
                                                             int filter, int first) {
    if constexpr (pairs) {
      TK_UNROLL
      for (int i = early; i < parts; ++i) tk::load(k[i], a.filters, filter, first + i);
      auto y = pack(s);
      TK_UNROLL
      for (int i = 0; i < parts; ++i) {
        if (a.sign < 0) multiply_conjugate(y, i, k[i]);
        else multiply(y, i, k[i]);
      }
      return y;
    } else {
      TK_UNROLL
      for (int i = 0; i < parts; ++i) {
        tk::load(k[0], a.filters, filter, first + i);
        multiply(s, i, k[0], a.sign);
      }
      return pack(s);
    }
  }
};

}  // namespace tk
