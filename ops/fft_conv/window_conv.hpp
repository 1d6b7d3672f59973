// SPDX-License-Identifier: MIT
// The long convolution where a filter is one piece: windows of sequences to spectra, times that of
// the filter, and back, all by one worker, and nothing but operands and results in global memory.
// Shapes    x[b, h, n] and a gate (windows.hpp); filters' spectra[h / share]; outputs[b, h, n]
//           (outputs.hpp).
// Numerics  window and product are each scaled by a power of two; that of the product keeps a bound
//           of it, of which white noise leaves about 2^-8, within fp16.
// Overlap   the workers of a block are each somewhere else: while one loads, others multiply.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

template <class T, int N2, bool Both> struct window_conv : fft_workers<N2> {
  using base = fft_workers<N2>;
  using sizes = typename base::sizes;
  struct args {
    window_source<T, N2> from;
    spectra<N2> filters;  // from that of the first channel on
    int share;            // channels of a filter
    float sign;           // -1: a correlation
    block_outputs<T, T, N2> to;
  };
  // Of all batches of a channel, one after another: they share the filter.
  static TK_BOTH int tasks(args const& a) { return ceil_div(a.from.count(), base::workers); }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const nth = t.first + c.w.id();
    if (nth >= a.from.count()) return;
    int const block = nth % a.from.blocks, b = nth / a.from.blocks % a.from.b,
              h = nth / a.from.blocks / a.from.b, row = b * a.from.h + h;
    auto const scale = load_window<Both>(c.scratch.x, a.from, row * a.from.blocks + block,
                                         c.scratch.exchange, c.w);
    c.w.sync();
    int const filter = h / a.share;
    float const up = scale_to(scale.sum * scale.by * a.filters.bounds[filter], 8);
    packed_complex<N2> p;
    transform<Both>(c.scratch.x, c.resident, [&](int part, complex_tile<64, sizes::V>& s) {
      constexpr int parts = sizes::V / sizes::part;
      TK_UNROLL
      for (int i = 0; i < parts; ++i) {
        complex_tile<64, sizes::part> k;
        tk::load(k, a.filters, filter, part * parts + i);
        multiply(s, i, k, a.sign);
      }
      s.re = s.re * up;
      s.im = s.im * up;
      put_columns(p.re, part, s.re);
      put_columns(p.im, part, s.im);
    });
    c.w.sync();  // all have read the window, and exchanged
    reg_tile<float, 64, N2> y;
    transform_back(y, p, c.scratch.x, c.resident, c.w);
    float const back = inverse_of_power(scale.by) * inverse_of_power(up) * (2 * sizes::step);
    a.to.write(y, back, row, block, c.scratch.x, c.w);
  }
};

}  // namespace tk
