// SPDX-License-Identifier: MIT
// From windows and products to launches. fft_conv_run<T, N2> and fft_filters_run<N2> are
// instantiated once for each row of ops/fft_conv/fft_conv.cmake, of the chip's nearest
// size; ops/fft_conv/plan.cpp chooses.
#pragma once
#include <algorithm>

#include "ops/fft_conv/filter_gradient.hpp"
#include "ops/fft_conv/filter_spectra.hpp"
#include "ops/fft_conv/launched.hpp"
#include "ops/fft_conv/spectra_conv.hpp"
#include "ops/fft_conv/window_conv.hpp"
#include "ops/fft_conv/window_spectra.hpp"

namespace tk {

template <int N2> struct fft_filters_run {
  static std::int64_t half();
  static void launch(filters_to_transform const& x, void* stream);
};
template <class T, int N2> struct fft_conv_run {
  static void transform(windows_to_transform const& x, spectra_place const& to, void* stream);
  static void sum(products_to_sum const& x, void* stream);
  static void convolve(windows_to_convolve const& x, void* stream);
  static bool correlates_at_once();
  static void correlate(windows_to_correlate const& x, void* stream);
};

template <int N2, class E> spectra<N2, E> spectra_at(spectra_place const& x) {
  if constexpr (sizeof(E) == 2) return {{reinterpret_cast<std::uint32_t*>(x.tiles)}, x.bounds};
  else return {{x.tiles}, x.bounds};
}

// N2, or the nearest that the chip wants.
template <int N2>
inline constexpr int fft_columns =
    std::clamp(N2, be::tune_fft_conv().least_N2, be::tune_fft_conv().most_N2);

// Whether blocks that stand beside themselves are transformed at whole frequencies, where half of a
// spectrum's columns are still a product's (whole_transform.hpp).
template <class T, int N2>
inline constexpr bool at_whole_frequencies = in_pairs<T> && N2 >= 32 && fft_sizes<N2>::P == 1;

// How many of `count` each block has, so that all multiprocessors have one.
inline int each_of(int count) { return std::max(1, ceil_div(count, be::rt::multiprocessors())); }

template <int N2> std::int64_t fft_filters_run<N2>::half() {
  return fft_sizes<fft_columns<N2>>::half;
}
template <int N2> void fft_filters_run<N2>::launch(filters_to_transform const& x, void* stream) {
  constexpr int columns = fft_columns<N2>;
  using rounded = rounded_filter_spectra<columns>;
  auto const args = [&]<class Kept>(Kept, int each) {
    return filter_args<columns, Kept>{static_cast<float const*>(x.k.data),
                                      x.k.h_stride,
                                      static_cast<int>(x.k.nk),
                                      static_cast<int>(x.k.h),
                                      static_cast<int>(x.pieces),
                                      x.repeats,
                                      spectra_at<columns, Kept>(x.to),
                                      each};
  };
  if (x.whole) return be::launch<filter_spectra<columns>>(args(float{}, 1), stream);
  auto const each = each_of(static_cast<int>(x.k.h * x.pieces));
  if constexpr (at_whole_frequencies<bf16, columns>) {
    using whole = rounded_filter_spectra<columns, whole_factors<columns>>;
    if (x.repeats) return be::launch<whole>(args(fp16{}, each), stream);
  }
  be::launch<rounded>(args(fp16{}, each), stream);
}

template <class T, int N2> window_source<T, N2> source_of(windows_to_transform const& x) {
  bool const wraps = x.wraps && (x.both || x.kind != window_kind::alone);
  return {.x = strided_as<T const>(x.x),
          .gate = strided_as<T const>(x.gate),
          .n = static_cast<int>(x.x.n),
          .b = static_cast<int>(x.x.b),
          .h = static_cast<int>(x.h),
          .first_h = static_cast<int>(x.first_h),
          .first = static_cast<int>(x.first),
          .blocks = static_cast<int>(x.blocks),
          .wraps = x.wraps,
          .in_chunks = are_chunks(x.x) && (!x.gate.data || are_chunks(x.gate)) &&
                       (!wraps || x.x.n >= fft_sizes<N2>::half),
          .kind = x.kind};
}
template <class T, int N2>
void fft_conv_run<T, N2>::transform(windows_to_transform const& x, spectra_place const& place,
                                    void* stream) {
  constexpr int columns = fft_columns<N2>;
  auto const from = source_of<T, columns>(x);
  auto const to = spectra_at<columns, kept_spectra<T>>(place);
  if (x.both) be::launch<window_spectra<T, columns, true>>({from, to}, stream);
  else be::launch<window_spectra<T, columns, false>>({from, to}, stream);
}

template <class T, class Out, int N2> void launch_products(products_to_sum const& x, void* stream) {
  be::launch<spectra_conv<T, Out, N2>>(
      {x.plan, spectra_at<N2, kept_spectra<T>>(x.a), spectra_at<N2, kept_spectra<T>>(x.b),
       outputs_of<T, Out, N2>(x.to), static_cast<int>(x.to.rows)},
      stream);
}
template <class T, int N2> void fft_conv_run<T, N2>::sum(products_to_sum const& x, void* stream) {
  constexpr int columns = fft_columns<N2>;
  bool const of_filters = x.plan.kind == spectral_plan::filter_gradient;
  if (of_filters) launch_products<T, float, columns>(x, stream);
  else launch_products<T, T, columns>(x, stream);
}

template <class T, int N2>
void fft_conv_run<T, N2>::convolve(windows_to_convolve const& x, void* stream) {
  constexpr int columns = fft_columns<N2>;
  auto const launch = [&]<class Op>(std::type_identity<Op>) {
    using op = Op;
    auto const from = source_of<T, columns>(x.from);
    be::launch<op>(
        {from, spectra_at<columns, kept_spectra<T>>(x.filters), static_cast<int>(x.share),
         x.correlates ? -1.f : 1.f, outputs_of<T, T, columns, op::S, op::whole>(x.to),
         ceil_div(each_of(from.count()), op::S) * op::S},
        stream);
  };
  if constexpr (at_whole_frequencies<T, columns>) {
    if (x.repeats)
      return launch(std::type_identity<window_conv<T, columns, false, whole_factors<columns>>>{});
  }
  if (x.from.both) launch(std::type_identity<window_conv<T, columns, true>>{});
  else launch(std::type_identity<window_conv<T, columns, false>>{});
}

template <class T, int N2> bool fft_conv_run<T, N2>::correlates_at_once() {
  return fft_sizes<fft_columns<N2>>::P == 1;
}
template <class T, int N2>
void fft_conv_run<T, N2>::correlate(windows_to_correlate const& x, void* stream) {
  constexpr int columns = fft_columns<N2>;
  if constexpr (fft_sizes<columns>::P == 1) {
    auto const launch = [&]<bool Both>(std::bool_constant<Both>) {
      be::launch<filter_gradient<T, columns, Both>>(
          {source_of<T, columns>(x.a), source_of<T, columns>(x.b),
           outputs_of<T, float, columns>(x.to), static_cast<int>(x.to.columns),
           static_cast<int>(x.share)},
          stream);
    };
    if (x.a.both) launch(std::true_type{});
    else launch(std::false_type{});
  }
}

}  // namespace tk
