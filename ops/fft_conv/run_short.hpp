// SPDX-License-Identifier: MIT
// From a convolution with short filters to its launch. short_conv_run<T> is instantiated once for
// each row of ops/fft_conv/fft_conv.cmake; ops/fft_conv/plan.cpp chooses.
#pragma once
#include <algorithm>

#include "ops/fft_conv/launched.hpp"
#include "ops/fft_conv/short_conv.hpp"

namespace tk {

template <class T> struct short_conv_run {
  static int most_taps();
  static void launch(short_filters const& x, void* stream);
};

template <class T> int short_conv_run<T>::most_taps() { return short_conv<T>::most_taps; }

template <class T> void short_conv_run<T>::launch(short_filters const& x, void* stream) {
  using op = short_conv<T>;
  typename op::args a{};
  a.x = strided_as<T const>(x.x);
  a.gate = strided_as<T const>(x.gate);
  a.k = static_cast<float const*>(x.k.data);
  a.k_stride = x.k.h_stride;
  a.nk = static_cast<int>(x.k.nk);
  a.n = static_cast<int>(x.x.n);
  a.b = static_cast<int>(x.x.b);
  a.h = static_cast<int>(x.x.h);
  a.share = static_cast<int>(x.share);
  a.wraps = x.wraps;
  a.correlates = x.correlates;
  a.to = outputs_of<T, T, op::B>(x.to);
  a.to.blocks = op::of_sequence(a);
  // As many windows to a task as leave every worker some tasks.
  constexpr std::int64_t of_worker = 4;
  std::int64_t const workers = std::int64_t{be::rt::multiprocessors()} * op::workers * of_worker,
                     windows = std::int64_t{op::of_filter(a)} * x.k.h;
  int const most =
      static_cast<int>(std::clamp<std::int64_t>(windows / workers, 1, op::of_filter(a)));
  a.each = ceil_div(op::of_filter(a), ceil_div(op::of_filter(a), most));  // tasks are alike
  be::launch<op>(a, stream);
}

}  // namespace tk
