// SPDX-License-Identifier: MIT
// Spectra of windows of sequences.
// Shapes    x[b, h, n] and a gate (windows.hpp); spectra[b, h, blocks].
// Numerics  each window is scaled by a power of two to what fp16 holds best, and so is its
//           spectrum.
// Order     a worker has a window.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

template <class T, int N2, bool Both> struct window_spectra : window_workers<T, N2> {
  using base = window_workers<T, N2>;
  using sizes = typename base::sizes;
  struct args {
    window_source<T, N2> from;
    spectra<N2, kept_spectra<T>> to;
  };
  static TK_BOTH int tasks(args const& a) { return ceil_div(a.from.count(), base::workers); }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const window = t.first + c.w.id();
    if (window >= a.from.count()) return;
    using reader = window_reader<T, N2, Both>;
    auto const at = window_place::of(a.from, window);
    auto const scale = reader::template put<true>(
        c.scratch.x, a.from, at, reader::fetch(a.from, at), c.scratch.exchange, c.w);
    c.w.sync();
    float const by = inverse_of_power(scale.by) * N2 * scale_of_spectrum(scale.sum);
    transform<Both, N2, 1>(
        c.scratch.x, c.resident, c.w, [](int, int) {},
        [&](int part, int, auto& y) {
          complex_tile<64, sizes::V> s = unpack(y);
          s.re = s.re * by;
          s.im = s.im * by;
          store(a.to, window, part * (sizes::V / sizes::part), s);
        });
    // All have exchanged: there was a barrier.
    if (c.w.leader()) a.to.bounds[window] = scale.sum;
  }
};

}  // namespace tk
