// SPDX-License-Identifier: MIT
// Gradients of filters where a sequence is one window: the sum over all sequences of a filter's
// channels of A o conj(B), where A and B are the spectra of two windows, and back, all by one
// worker.
// Shapes    y[b, h, n], x[b, h, n] and gates (windows.hpp); outputs[1, filters, nk] (outputs.hpp).
// Numerics  products and their sum are fp32, in the order of the sequences, in units that grow with
//           them (scaled_sum.hpp), then scaled by a power of two to what fp16 holds best; nothing
//           is in pairs, which a gradient's error would show.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/scaled_sum.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

template <class T, int N2, bool Both>
struct filter_gradient : fft_workers<N2, false, be::tune_fft_workers(N2, false).gradients> {
  using base = fft_workers<N2, false, be::tune_fft_workers(N2, false).gradients>;
  using sizes = typename base::sizes;
  static constexpr int V = sizes::V;
  static_assert(sizes::P == 1, "a worker keeps a spectrum's sum");
  struct args {
    window_source<T, N2> y, x;  // of which all sequences of all filters are in order
    block_outputs<T, float, N2> to;
    int filters, share;
  };
  static TK_BOTH int tasks(args const& a) { return ceil_div(a.filters, base::workers); }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const filter = t.first + c.w.id();
    if (filter >= a.filters) return;
    complex_tile<64, V> sum;
    sum.re = 0.f, sum.im = 0.f;
    scaled_sum of_sum;
    TK_ROLL
    for (int b = 0; b < a.y.b; ++b) TK_ROLL
    for (int of_filter = 0; of_filter < a.share; ++of_filter) {
      window_place const at{b, filter * a.share + of_filter, 0};
      if (b + 1 < a.y.b) {
        window_place const next{b + 1, at.h, 0};
        window_reader<T, N2, Both>::prefetch(a.y, next);
        window_reader<T, N2, false>::prefetch(a.x, next);
      }
      packed_complex_tile<64, V> y, x;
      auto const of_y = transform_window<Both>(c, a.y, at, y),
                 of_x = transform_window<false>(c, a.x, at, x);
      if (float const less = of_sum.add(of_y, of_x); less != 1) {
        sum.re = sum.re * less;
        sum.im = sum.im * less;
      }
      add_product(sum, y, x, -1.f, of_sum.factor(of_y, of_x) * (N2 * N2));
    }
    float const up = scale_to(of_sum.bound, 8);
    sum.re = sum.re * up;
    sum.im = sum.im * up;
    packed_complex<N2> p[1];
    p[0].push(pack(sum));
    float const back = inverse_of_power(up) * (2 * N2 * sizes::step);
    write_block(c, p, a.to, a.to.place(filter, 0), back, of_sum.exponent);
  }

 private:
  // Windows are below 1, and so a product of two spectra is below 2^14.5.
  template <bool BothHalves, class Context>
  static TK_DEVICE window_scale transform_window(Context& c, window_source<T, N2> const& from,
                                                 window_place const& at,
                                                 packed_complex_tile<64, V>& to) {
    auto const scale = window_reader<T, N2, BothHalves>::template put<true>(
        c.scratch.x, from, at, window_reader<T, N2, BothHalves>::fetch(from, at),
        c.scratch.exchange, c.w, window_bits - 1);
    c.w.sync();
    transform<BothHalves, N2, 1>(
        c.scratch.x, c.resident, c.w, [](int, int) {},
        [&](int, int, complex_tile<64, V>& s) { to = pack(s); });
    return scale;
  }
};

}  // namespace tk
