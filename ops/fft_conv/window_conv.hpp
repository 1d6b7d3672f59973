// SPDX-License-Identifier: MIT
// The long convolution where a filter is one piece: windows of sequences to spectra, times that of
// the filter, and back, all by one worker, and nothing but operands and results in global memory.
// Shapes    x[b, h, n] and a gate (windows.hpp); filters' spectra[h / share]; outputs[b, h, n]
//           (outputs.hpp).
// Numerics  windows are scaled by powers of two, and spectra of filters have been, to what keeps
//           all that follows within fp16 (transform.hpp).
// Overlap   the workers of a block are each somewhere else: while one loads, others multiply. A
//           worker has neighbouring sequences of a channel, and caches fetch the next one
//           meanwhile.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

template <class T, int N2, bool Both> struct window_conv : window_workers<T, N2> {
  using base = window_workers<T, N2>;
  using sizes = typename base::sizes;
  struct args {
    window_source<T, N2> from;
    spectra<N2, kept_spectra<T>> filters;  // from that of the first channel on
    int share;                             // channels of a filter
    float sign;                            // -1: a correlation
    block_outputs<T, T, N2> to;
    int each;  // windows of a worker, one after another
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
    auto at = window_place::by_channel(a.from, first);
    int filter = at.h / a.share;
    TK_ROLL
    for (int nth = first; nth < end; ++nth) {
      if (nth + 1 < end) {
        auto next = at;
        next.next(a.from);
        reader::prefetch(a.from, next);
      }
      convolve(c, a, at, filter);
      at.next(a.from);
      if (at.b == 0 && at.block == 0) filter = at.h / a.share;
    }
  }

 private:
  using reader = window_reader<T, N2, Both>;
  static constexpr bool pairs = in_pairs<T>;
  // Of V columns of a filter there are so many parts, of which some are read while products run:
  // fp32 ones would be too large.
  static constexpr int parts = sizes::V / sizes::part,
                       early = !pairs         ? 0
                               : sizes::P > 1 ? (Both ? 1 : 3)
                                              : ceil_div(parts, 2),
                       held = pairs ? parts : 1;
  using filter_part = typename spectra<N2, kept_spectra<T>>::part;

  template <class Context>
  static TK_DEVICE void convolve(Context& c, args const& a, window_place const& at, int filter) {
    auto& x = c.scratch.x;
    auto const scale = reader::template put<false>(x, a.from, at, c.scratch.exchange, c.w);
    c.w.sync();
    packed_complex<N2> p;
    filter_part k[held];
    transform<Both>(
        x, c.resident, c.w,
        [&](int part) {
          TK_UNROLL
          for (int i = 0; i < early; ++i) tk::load(k[i], a.filters, filter, part * parts + i);
        },
        [&](int part, complex_tile<64, sizes::V>& s) {
          auto const y = product(s, k, a, filter, part * parts);
          if constexpr (sizes::P == 1) {
            p.push(y);
          } else {  // out of the registers, which the spectrum's other parts need
            tk::store(x[part][0], y.re);
            tk::store(x[part][1], y.im);
          }
        });
    c.w.sync();  // all have exchanged, and what was stored is there
    if constexpr (sizes::P > 1) {
      TK_UNROLL
      for (int part = 0; part < sizes::P; ++part) {
        tk::load(p.re.of[part], x[part][0]);
        tk::load(p.im.of[part], x[part][1]);
      }
      be::publish_shared();
      c.w.sync();  // all have loaded
    }
    int const row = at.b * a.from.h + at.h;
    float const back = inverse_of_power(scale.by) *
                       inverse_of_power(scale_of_spectrum(a.filters.bounds[filter])) *
                       (2 * N2 * N2 * sizes::step);
    transform_back(x, p, c.resident, c.w,
                   [&](auto& through, auto const& y) { a.to.put(through, y, back, row); });
    a.to.write(x, row, at.block, c.w);
  }
  // V columns of the spectrum times those of the filter from the first-th part on, of which the
  // early ones are in k, or of its conjugate.
  static TK_DEVICE packed_complex_tile<64, sizes::V> product(complex_tile<64, sizes::V>& s,
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
