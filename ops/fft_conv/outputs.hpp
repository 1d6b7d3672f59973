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

  // Of the block-th block of a row, what transform_back makes of V columns, times `back`: fp32, or,
  // where nothing else is done to it, the output's type.
  TK_DEVICE void put(typename fft_sizes<N2>::tile (&to)[2],
                     reg_tile<float, 64, fft_sizes<N2>::V> const& y, float back, int row) const {
    if constexpr (sizeof(Out) == 2) {
      if (is_plain(row)) {
        store(as_they_leave(to), cast<Out>(y * back));
        return;
      }
    }
    store(sums_in<N2>(to), cast<float>(y * back));
  }
  // The block, when all of it has been put.
  template <class Worker>
  TK_DEVICE void write(window_tiles<N2>& y, int row, int block, Worker const& w) const {
    w.sync();  // it is there
    int const outer = row / columns, column = first_column + row % columns;
    int const at = block * L;
    if (is_plain(row)) {
      write_plain(of[0].to.of(outer, column), at, y);
    } else {
      TK_UNROLL
      for (auto const& out : of) {
        if (!out.to.data) continue;
        Out* const to = out.to.of(outer, column);
        T const* const gate = out.gate.data ? out.gate.of(outer, column) : nullptr;
        if (in_chunks(to) && (!gate || begins_chunk(gate))) write_chunks(to, gate, at, y);
        else write_runs(to, gate, at, y);
      }
    }
    w.sync();  // all have read
  }

 private:
  TK_DEVICE bool in_chunks(Out const* to) const {
    return sizeof(Out) == 2 && !folds && there == n && n % 8 == 0 && begins_chunk(to);
  }
  // Whether there is one output of the row, without a gate, in chunks.
  TK_DEVICE bool is_plain(int row) const {
    return sizeof(Out) == 2 && of[0].to.data && !of[0].gate.data && !of[1].to.data &&
           in_chunks(of[0].to.of(row / columns, first_column + row % columns));
  }
  static TK_DEVICE auto& as_they_leave(typename fft_sizes<N2>::tile (&x)[2]) {
    return reuse<shared_tile<Out, 64, fft_sizes<N2>::V>>(x[0]);
  }
  TK_DEVICE void write_plain([[maybe_unused]] Out* to, [[maybe_unused]] int at,
                             [[maybe_unused]] window_tiles<N2>& y) const {
    if constexpr (sizeof(Out) == 2) {
      using runs = lane_runs<N2>;
      chunk16 words[runs::each];
      TK_UNROLL
      for (int i = 0; i < runs::each; ++i) {
        run_place<N2> const from(runs::nth(i));
        auto& tile = as_they_leave(y[from.part]);
        words[i] = *reinterpret_cast<chunk16 const*>(reinterpret_cast<char const*>(&tile) +
                                                     tile.offset(from.row, from.col));
      }
      TK_UNROLL
      for (int i = 0; i < runs::each; ++i) {
        int const place = at + 8 * runs::nth(i);
        if (place < n) be::write_16_bytes(to + place, words[i].w);
      }
    }
  }
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
