// SPDX-License-Identifier: MIT
// From windows and products to launches. fft_conv_run<T, N2> and fft_filters_run<N2> are
// instantiated once for each row of ops/fft_conv/fft_conv.cmake, but have no kernels where the chip
// does not want the size; ops/fft_conv/plan.cpp chooses.
#pragma once
#include "ops/fft_conv/filter_spectra.hpp"
#include "ops/fft_conv/launched.hpp"
#include "ops/fft_conv/spectra_conv.hpp"
#include "ops/fft_conv/window_conv.hpp"
#include "ops/fft_conv/window_spectra.hpp"

namespace tk {

template <int N2> struct fft_filters_run {
  static std::int64_t half();  // 0 where there is none
  static void launch(filters_to_transform const& x, void* stream);
};
template <class T, int N2> struct fft_conv_run {
  static void transform(windows_to_transform const& x, spectra_place const& to, void* stream);
  static void sum(products_to_sum const& x, void* stream);
  static void convolve(windows_to_convolve const& x, void* stream);
};

template <int N2> spectra<N2> spectra_at(spectra_place const& x) { return {{x.tiles}, x.bounds}; }

// Launches Op where the chip wants transforms of the size.
template <class Op, int N2, class... Args> void launch_fft(void* stream, Args const&... args) {
  if constexpr (be::tune_fft_conv().has(N2)) be::launch<Op>({args...}, stream);
}

template <int N2> std::int64_t fft_filters_run<N2>::half() {
  return be::tune_fft_conv().has(N2) ? fft_sizes<N2>::half : 0;
}
template <int N2> void fft_filters_run<N2>::launch(filters_to_transform const& x, void* stream) {
  launch_fft<filter_spectra<N2>, N2>(stream, static_cast<float const*>(x.k.data), x.k.h_stride,
                                     static_cast<int>(x.k.nk), static_cast<int>(x.k.h),
                                     static_cast<int>(x.pieces), spectra_at<N2>(x.to));
}

template <class T, int N2> window_source<T, N2> source_of(windows_to_transform const& x) {
  return {.x = strided_as<T const>(x.x),
          .gate = strided_as<T const>(x.gate),
          .n = static_cast<int>(x.x.n),
          .b = static_cast<int>(x.x.b),
          .h = static_cast<int>(x.h),
          .first_h = static_cast<int>(x.first_h),
          .first = static_cast<int>(x.first),
          .blocks = static_cast<int>(x.blocks),
          .wraps = x.wraps,
          .kind = x.kind};
}
template <class T, int N2>
void fft_conv_run<T, N2>::transform(windows_to_transform const& x, spectra_place const& to,
                                    void* stream) {
  auto const from = source_of<T, N2>(x);
  if (x.both) launch_fft<window_spectra<T, N2, true>, N2>(stream, from, spectra_at<N2>(to));
  else launch_fft<window_spectra<T, N2, false>, N2>(stream, from, spectra_at<N2>(to));
}

template <class T, class Out, int N2> void launch_products(products_to_sum const& x, void* stream) {
  launch_fft<spectra_conv<T, Out, N2>, N2>(stream, x.plan, spectra_at<N2>(x.a), spectra_at<N2>(x.b),
                                           outputs_of<T, Out, N2>(x.to),
                                           static_cast<int>(x.to.rows));
}
template <class T, int N2> void fft_conv_run<T, N2>::sum(products_to_sum const& x, void* stream) {
  if (x.plan.kind == spectral_plan::filter_gradient) launch_products<T, float, N2>(x, stream);
  else launch_products<T, T, N2>(x, stream);
}

template <class T, int N2>
void fft_conv_run<T, N2>::convolve(windows_to_convolve const& x, void* stream) {
  auto const launch = [&]<bool Both>(std::bool_constant<Both>) {
    launch_fft<window_conv<T, N2, Both>, N2>(stream, source_of<T, N2>(x.from),
                                             spectra_at<N2>(x.filters), static_cast<int>(x.share),
                                             x.correlates ? -1.f : 1.f, outputs_of<T, T, N2>(x.to));
  };
  if (x.from.both) launch(std::true_type{});
  else launch(std::false_type{});
}

}  // namespace tk
