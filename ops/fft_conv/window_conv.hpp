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
    auto const at = place_of(a, nth);
    auto& x = c.scratch.x;
    auto const scale =
        load_window<Both>(x, a.from, at.row * a.from.blocks + at.block, c.scratch.exchange, c.w);
    c.w.sync();
    int const filter = at.row % a.from.h / a.share;
    float const up = scale_to(scale.sum * scale.by * a.filters.bounds[filter], 8);
    float const back = inverse_of_power(scale.by) * inverse_of_power(up) * (2 * sizes::step);
    packed_complex<N2> p;
    transform<Both>(x, c.resident, c.w, [&](int part, complex_tile<64, sizes::V>& s) {
      constexpr int parts = sizes::V / sizes::part;
      TK_UNROLL
      for (int i = 0; i < parts; ++i) {
        complex_tile<64, sizes::part> k;
        tk::load(k, a.filters, filter, part * parts + i);
        multiply(s, i, k, a.sign);
      }
      if constexpr (sizes::P == 1) {
        p.re.of[0] = cast<fp16>(s.re * up);
        p.im.of[0] = cast<fp16>(s.im * up);
      } else {  // out of the registers, which the spectrum's other parts need
        tk::store(x[part][0], cast<fp16>(s.re * up));
        tk::store(x[part][1], cast<fp16>(s.im * up));
      }
    });
    c.w.sync();  // all have exchanged, and what was stored is there
    if constexpr (sizes::P > 1) {
      TK_UNROLL
      for (int part = 0; part < sizes::P; ++part) {
        tk::load(p.re.of[part], x[part][0]);
        tk::load(p.im.of[part], x[part][1]);
      }
      c.w.sync();  // all have loaded
    }
    transform_back(x, p, back, c.resident, c.w);
    auto const to = place_of(a, static_cast<int>(be::opaque(static_cast<std::uint32_t>(nth))));
    a.to.write(x, to.row, to.block, c.w);
  }

 private:
  // Found anew where it is wanted: registers are for tiles.
  struct place {
    int row, block;
  };
  static TK_DEVICE place place_of(args const& a, int nth) {
    int const sequence = nth / a.from.blocks;
    return {sequence % a.from.b * a.from.h + sequence / a.from.b, nth % a.from.blocks};
  }
};

}  // namespace tk
