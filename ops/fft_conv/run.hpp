// SPDX-License-Identifier: MIT
// From windows and products to launches. fft_conv_run<T, Size> and fft_filters_run<Size> are
// instantiated once for each row of ops/fft_conv/fft_conv.cmake; ops/fft_conv/plan.cpp chooses.
#pragma once
#include "ops/fft_conv/filter_spectra.hpp"
#include "ops/fft_conv/problem.hpp"
#include "ops/fft_conv/spectra_conv.hpp"
#include "ops/fft_conv/window_spectra.hpp"

namespace tk {

// The chip's N2 of the small transforms, 0, and of the large ones, 1.
template <int Size>
inline constexpr int fft_columns =
    Size == 0 ? be::tune_fft_conv().small_N2 : be::tune_fft_conv().large_N2;

template <int Size> struct fft_filters_run {
  static std::int64_t half();
  static void launch(filters_to_transform const& x, void* stream);
};
template <class T, int Size> struct fft_conv_run {
  static void transform(windows_to_transform const& x, void* stream);
  static void sum(products_to_sum const& x, void* stream);
};

template <class T> strided_sequences<T> signal_of(sequences const& x) {
  return {static_cast<T*>(x.data), x.b_stride, x.h_stride};
}

template <int Size> std::int64_t fft_filters_run<Size>::half() {
  return fft_sizes<fft_columns<Size>>::half;
}
template <int Size>
void fft_filters_run<Size>::launch(filters_to_transform const& x, void* stream) {
  be::launch<filter_spectra<fft_columns<Size>>>({static_cast<float const*>(x.k.data),
                                                 x.k.h_stride,
                                                 x.k.nk,
                                                 static_cast<int>(x.k.h),
                                                 static_cast<int>(x.pieces),
                                                 {{x.to}}},
                                                stream);
}

template <class T, int N2, bool Both>
void launch_windows(windows_to_transform const& x, void* stream) {
  be::launch<window_spectra<T, N2, Both>>({.x = signal_of<T const>(x.x),
                                           .gate = signal_of<T const>(x.gate),
                                           .n = x.x.n,
                                           .b = static_cast<int>(x.x.b),
                                           .h = static_cast<int>(x.h),
                                           .first_h = static_cast<int>(x.first_h),
                                           .first = static_cast<int>(x.first),
                                           .blocks = static_cast<int>(x.blocks),
                                           .wraps = x.wraps,
                                           .kind = x.kind,
                                           .to = {{x.to}}},
                                          stream);
}
template <class T, int Size>
void fft_conv_run<T, Size>::transform(windows_to_transform const& x, void* stream) {
  constexpr int N2 = fft_columns<Size>;
  if (x.both) launch_windows<T, N2, true>(x, stream);
  else launch_windows<T, N2, false>(x, stream);
}

template <class T, class Out, int N2> void launch_products(products_to_sum const& x, void* stream) {
  using op = spectra_conv<T, Out, N2>;
  typename op::args a{};
  a.plan = x.plan;
  a.a = {{x.a}};
  a.b = {{x.b}};
  for (int i = 0; i < 2; ++i) a.out[i] = {signal_of<Out>(x.out[i]), signal_of<T const>(x.gate[i])};
  a.n = x.n;
  a.there = x.there;
  a.rows = static_cast<int>(x.rows);
  a.columns = static_cast<int>(x.columns);
  a.first_column = static_cast<int>(x.first_column);
  a.blocks = static_cast<int>(x.blocks);
  a.folds = x.folds;
  be::launch<op>(a, stream);
}
template <class T, int Size>
void fft_conv_run<T, Size>::sum(products_to_sum const& x, void* stream) {
  constexpr int N2 = fft_columns<Size>;
  if (x.plan.kind == spectral_plan::filter_gradient) launch_products<T, float, N2>(x, stream);
  else launch_products<T, T, N2>(x, stream);
}

}  // namespace tk
