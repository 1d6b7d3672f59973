// SPDX-License-Identifier: MIT
// What the long convolution lets a chip choose; the choices are in
// backends/<chip>/tune/fft_conv.hpp: tune_fft_conv(), tune_fft_workers().
#pragma once
#include "backends/select.hpp"

namespace tk {

// Transforms of 128 N2 points, N2 a power of two from least_N2, 16 or more, to most_N2, 128 or
// less. With `pairs`, what lies between products is fp16 where the type is bf16.
struct fft_conv_tuning {
  int least_N2, most_N2;
  int short_workers;  // of short filters
  bool pairs;
};
// Workers of a block, each with a sequence or a filter of its own, for transforms of some N2, what
// lies between products of windows in pairs or not. Those of a convolution in one kernel
// (window_conv.hpp) may have some windows beside one another, whose columns together are 64 at
// most.
struct fft_worker_tuning {
  int windows, filters, gradients;
  int convolutions, together = 1;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / fft_conv.hpp))
#include TK_CHIP(tune / fft_conv.hpp)
#else
#include TK_BACKEND(tune/fft_conv.hpp)
#endif
