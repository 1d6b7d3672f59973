// SPDX-License-Identifier: MIT
// What the long convolution lets a chip choose; the choices are in
// backends/<chip>/tune/fft_conv.hpp: tune_fft_conv().
#pragma once
#include "backends/select.hpp"

namespace tk {

// Transforms of 128 N2 points, of two sizes: the small one for short sequences. Each worker has a
// sequence of its own.
struct fft_conv_tuning {
  int small_N2, large_N2, workers;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / fft_conv.hpp))
#include TK_CHIP(tune / fft_conv.hpp)
#else
#include TK_BACKEND(tune/fft_conv.hpp)
#endif
