// SPDX-License-Identifier: MIT
// Sums of products of spectra, back to sequences:
//   y[block] = gate o first half of the inverse of (sum over terms of A o B, or A o conj(B))
// A convolution has a term for each piece of the filter, whose window lies as many blocks before
// the output's; a correlation with the filter likewise, behind it; a filter's gradient has one for
// each block of each sequence of its channels. Shapes    outputs[rows, columns, n] (outputs.hpp),
// of which a worker gives L = N / 2 elements. Numerics  products and their sum fp32, in the order
// of the terms; the sum is scaled by a power of
//           two to what fp16 holds best.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

template <class T, class Out, int N2> struct spectra_conv : fft_workers<N2> {
  using base = fft_workers<N2>;
  using sizes = typename base::sizes;
  struct args {
    spectral_plan plan;
    spectra<N2> a, b;
    block_outputs<T, Out, N2> to;
    int rows;
  };
  static TK_BOTH int all(args const& a) { return a.rows * a.to.columns * a.to.blocks; }
  static TK_BOTH int tasks(args const& a) { return ceil_div(all(a), base::workers); }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const index = t.first + c.w.id();
    if (index >= all(a)) return;
    int const block = index % a.to.blocks, row = index / a.to.blocks;
    complex_tile<64, N2> p;
    sum(p, a, row, block);
    float const scale = scale_to(max_of_lanes(c.w, largest_of_lane(p), c.scratch.exchange), 8);
    reg_tile<float, 64, N2> y;
    transform_back(y, p, scale, c.scratch.x, c.resident, c.w);
    a.to.write(y, inverse_of_power(scale) * (2 * sizes::step), row, block, c.scratch.x, c.w);
  }

 private:
  static TK_DEVICE void sum(complex_tile<64, N2>& p, args const& a, int row, int block) {
    p.re = 0.f, p.im = 0.f;
    auto const terms = a.plan.terms(row, block);
    bool const gradient = a.plan.kind == spectral_plan::filter_gradient;
    float const sign = a.plan.kind == spectral_plan::causal ? 1.f : -1.f;
    TK_UNROLL
    for (int part = 0; part < sizes::parts; ++part) TK_ROLL
    for (int o = 0; o < terms.outer; ++o) {
      std::int64_t const sequence = gradient ? a.plan.sequence(row, o) : 0;
      std::int64_t const first = terms.a + sequence * a.plan.windows,
                         other = terms.b + sequence * a.plan.blocks;
      TK_ROLL
      for (int i = 0; i < terms.inner; ++i) {
        complex_tile<64, sizes::part> x, y;
        tk::load(x, a.a, first + std::int64_t{i} * terms.a_step, part);
        tk::load(y, a.b, other + i, part);
        add_product(p, part, x, y, sign);
      }
    }
  }
};

}  // namespace tk
