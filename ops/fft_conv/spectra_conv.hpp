// SPDX-License-Identifier: MIT
// Sums of products of spectra, back to sequences:
//   y[block] = gate o first half of the inverse of (sum over terms of A o B, or A o conj(B))
// A convolution has a term for each piece of the filter, whose window lies as many blocks before
// the output's; a correlation with the filter likewise, behind it; a filter's gradient has one for
// each block of each sequence of its channels.
//
// Shapes    outputs[rows, columns, n] (outputs.hpp), of which a worker gives L = N / 2 elements.
// Numerics  sums fp32, in the order of the terms, scaled by a power of two to what fp16 holds best;
//           of bf16 sequences products may be rounded to fp16.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/scaled_sum.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

template <class T, class Out, int N2> struct spectra_conv : window_workers<T, N2> {
  using base = window_workers<T, N2>;
  using sizes = typename base::sizes;
  struct args {
    spectral_plan plan;
    spectra<N2, kept_spectra<T>> a, b;  // of windows; of filters, or windows
    block_outputs<T, Out, N2> to;
    int rows;
  };
  static TK_BOTH int all(args const& a) { return a.rows * a.to.columns * a.to.blocks; }
  static TK_BOTH int tasks(args const& a) { return ceil_div(all(a), base::workers); }

  template <class Context>
  static TK_DEVICE void compute(Context& c, args const& a, typename base::task const& t) {
    int const index = t.first + c.w.id();
    if (index >= all(a)) return;
    // Blocks have more and more terms: those of one worker, a grid apart, should not be alike.
    int const row = index / a.to.blocks, block = (index + row) % a.to.blocks;
    auto const terms = a.plan.terms(row, block);
    auto const of_sum = scale_of(a, terms, row);
    float const up = scale_to(of_sum.bound, 8);
    packed_complex<N2> p[1];
    TK_ROLL
    for (int part = 0; part < sizes::P; ++part) {
      complex_tile<64, sizes::V> s;
      TK_UNROLL
      for (int i = 0; i < parts; i += at_once) {
        sum(s, i, a, terms, row, part * parts + i, of_sum, up);
      }
      p[0].push(pack(s));
    }
    float const back = inverse_of_power(up) * (2 * N2 * sizes::step);
    write_block(c, p, a.to, a.to.place(row, block), back, of_sum.exponent);
  }

 private:
  // Parts of V columns, and how many of them a lane reads at a time.
  static constexpr int parts = sizes::V / sizes::part, at_once = !in_pairs<T>     ? 1
                                                                 : sizes::P > 1   ? parts
                                                                 : parts % 2 == 0 ? 2
                                                                                  : 1;
  // body(a, b, step) for the numbers of the spectra of each term, in order; the next term's are
  // a + step and b + 1, where step is not 0.
  template <class Body>
  static TK_DEVICE void for_each(args const& a, spectral_terms const& t, int row, Body body) {
    bool const gradient = a.plan.kind == spectral_plan::filter_gradient;
    TK_ROLL
    for (int o = 0; o < t.outer; ++o) {
      std::int64_t const sequence = gradient ? a.plan.sequence(row, o) : 0;
      std::int64_t const first = t.a + sequence * a.plan.windows,
                         other = t.b + sequence * a.plan.blocks;
      TK_ROLL
      for (int i = 0; i < t.inner; ++i)
        body(first + std::int64_t{i} * t.a_step, other + i, i + 1 < t.inner ? t.a_step : 0);
    }
  }
  static TK_DEVICE window_scale scale_of(float bound) { return {scale_of_spectrum(bound), bound}; }
  static TK_DEVICE scaled_sum scale_of(args const& a, spectral_terms const& t, int row) {
    scaled_sum y;
    for_each(a, t, row, [&](std::int64_t left, std::int64_t right, int) {
      y.add(scale_of(a.a.bounds[left]), scale_of(a.b.bounds[right]));
    });
    return y;
  }
  // `up` times the columns of at_once parts of the sum, from the part-th on, the i-th of s.
  static TK_DEVICE void sum(complex_tile<64, sizes::V>& s, int i, args const& a,
                            spectral_terms const& t, int row, int part, scaled_sum const& of_sum,
                            float up) {
    float const sign = a.plan.kind == spectral_plan::causal ? 1.f : -1.f;
    complex_tile<64, sizes::part> sums[at_once];
    for (auto& of_part : sums) of_part.re = 0.f, of_part.im = 0.f;
    for_each(a, t, row, [&](std::int64_t left, std::int64_t right, int step) {
      if (step != 0) {
        prefetch<at_once>(a.a, left + step, part);
        prefetch<at_once>(a.b, right + 1, part);
      }
      typename spectra<N2, kept_spectra<T>>::part x[at_once], y[at_once];
      TK_UNROLL
      for (int k = 0; k < at_once; ++k) {
        load(x[k], a.a, left, part + k);
        load(y[k], a.b, right, part + k);
      }
      float const by = up * of_sum.factor(scale_of(a.a.bounds[left]), scale_of(a.b.bounds[right]));
      TK_UNROLL
      for (int k = 0; k < at_once; ++k) {
        if constexpr (in_pairs<T>) add_rounded_product(sums[k], x[k], y[k], sign, by);
        else add_product(sums[k], x[k], y[k], sign, by);
      }
    });
    TK_UNROLL
    for (int k = 0; k < at_once; ++k) put_part(s, i + k, sums[k]);
  }
};

}  // namespace tk
