// SPDX-License-Identifier: MIT
// What the long convolution lets a chip choose; the choices are in
// backends/<chip>/tune/fft_conv.hpp: tune_fft_conv().
#pragma once
#include "backends/select.hpp"

namespace tk {

// Transforms of 128 N2 points, N2 a power of two from least_N2, 16 or more, to most_N2, 128 or
// less. Each worker of a block has a sequence of its own; up to N2 = 32 there are
// few_points_workers.
struct fft_conv_tuning {
  int least_N2, most_N2, workers, few_points_workers, short_workers;  // short: of short filters
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / fft_conv.hpp))
#include TK_CHIP(tune / fft_conv.hpp)
#else
#include TK_BACKEND(tune/fft_conv.hpp)
#endif
