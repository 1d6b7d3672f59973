// SPDX-License-Identifier: MIT
// Tensors as the kernels of the long convolution take them.
#pragma once
#include "backends/runtime.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/problem.hpp"

namespace tk {

template <class T> strided_sequences<T> strided_as(sequences const& x) {
  return {static_cast<T*>(x.data), x.b_stride, x.h_stride};
}

// Whether all sequences are chunks of 16 bytes, of 16-bit elements.
inline bool are_chunks(sequences const& x) {
  auto const whole = [](std::int64_t n) { return n % 8 == 0; };
  return begins_chunk(x.data) && whole(x.n) && (x.b == 1 || whole(x.b_stride)) &&
         (x.h == 1 || whole(x.h_stride));
}

template <class T, class Out, int N2, int S = 1, bool Split = false>
block_outputs<T, Out, N2, S, Split> outputs_of(blocks_to_write const& x) {
  block_outputs<T, Out, N2, S, Split> y{};
  for (int i = 0; i < 2; ++i) y.of[i] = {strided_as<Out>(x.out[i]), strided_as<T const>(x.gate[i])};
  y.n = static_cast<int>(x.n);
  y.there = static_cast<int>(x.there);
  y.columns = static_cast<int>(x.columns);
  y.first_column = static_cast<int>(x.first_column);
  y.blocks = static_cast<int>(x.blocks);
  y.folds = x.folds;
  y.plain = sizeof(Out) == 2 && x.out[0].data && are_chunks(x.out[0]) && !x.gate[0].data &&
            !x.out[1].data && !x.folds && x.there == x.n;
  return y;
}

}  // namespace tk
