// SPDX-License-Identifier: MIT
// Where blocks of a convolution's sums go: to one or two outputs, times a gate of its own each.
#pragma once
#include "ops/fft_conv/signals.hpp"
#include "ops/fft_conv/transform.hpp"

namespace tk {

template <class T, class Out, int N2> struct block_outputs {
  static constexpr int L = fft_sizes<N2>::half;
  struct output {
    strided_sequences<Out> to;        // data may be null
    strided_sequences<T const> gate;  // and so may this
  };
  output of[2];               // [rows, columns, n]
  int n, there;               // elements; from `there` on they are 0
  int columns, first_column;  // columns from the first on
  int blocks;
  bool folds;  // element n + t of the only block is added to t

  // The block-th block of a row, as transform_back left it.
  template <class Worker>
  TK_DEVICE void write(window_tiles<N2>& y, int row, int block, Worker const& w) const {
    w.sync();  // it is there
    int const outer = row / columns, column = first_column + row % columns;
    int const at = block * L;
    TK_UNROLL
    for (auto const& out : of) {
      if (!out.to.data) continue;
      Out* const to = out.to.of(outer, column);
      T const* const gate = out.gate.data ? out.gate.of(outer, column) : nullptr;
      bool const in_chunks = sizeof(Out) == 2 && !folds && there == n && n % 8 == 0 &&
                             begins_chunk(to) && (!gate || begins_chunk(gate));
      if (in_chunks) write_chunks(to, gate, at, y);
      else write_runs(to, gate, at, y);
    }
    w.sync();  // all have read
  }

 private:
  static TK_DEVICE run_of_eight take(window_tiles<N2>& y, int nth) {
    run_place<N2> const at(nth);
    return take_run(sums_in<N2>(y[at.part]), at.row, at.col);
  }
  TK_DEVICE void write_chunks(Out* to, T const* gate, int at, window_tiles<N2>& y) const {
    using runs = lane_runs<N2>;
    TK_ROLL
    for (int i = 0; i < runs::each; i += runs::ahead) {
      chunk16 gates[runs::ahead];
      TK_UNROLL
      for (int k = 0; k < runs::ahead; ++k)
        if (gate) gates[k] = read_chunk_inside(gate, at + 8 * runs::nth(i + k), n);
      TK_UNROLL
      for (int k = 0; k < runs::ahead; ++k) {
        int const nth = runs::nth(i + k), place = at + 8 * nth;
        auto z = take(y, nth);
        if (gate) z = product_of(z, widen_run<T>(gates[k]));
        if (place < n) write_chunk(to + place, z);
      }
    }
  }
  TK_DEVICE void write_runs(Out* to, T const* gate, int at, window_tiles<N2>& y) const {
    using runs = lane_runs<N2>;
    TK_ROLL
    for (int i = 0; i < runs::each; ++i) {
      int const nth = runs::nth(i);
      int const place = at + 8 * nth;
      if (place >= n) continue;
      auto z = take(y, nth);
      if (folds) add_folded(z, y, place + n);
      if (gate) z = product_of(z, read_run(gate, place, n, false));
      TK_UNROLL
      for (int e = 0; e < 8; ++e)
        if (place + e >= there) z.x[e] = 0;
      write_run(to, place, n, z);
    }
  }
  // From a place on that need not be a run's.
  static TK_DEVICE void add_folded(run_of_eight& z, window_tiles<N2>& y, int place) {
    constexpr int V = fft_sizes<N2>::V;
    using tile = shared_tile<float, 64, V>;
    TK_UNROLL
    for (int i = 0; i < 8; ++i)
      if (int const at = place + i; at < L) {
        int const col = at % N2;
        auto const* const bytes = reinterpret_cast<char const*>(&sums_in<N2>(y[col / V]));
        z.x[i] += *reinterpret_cast<float const*>(bytes + tile::offset(at / N2, col % V));
      }
  }
};

}  // namespace tk
