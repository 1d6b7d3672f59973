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
  std::int64_t n, there;      // elements; from `there` on they are 0
  int columns, first_column;  // columns from the first on
  int blocks;
  bool folds;  // element n + t of the only block is added to t

  // y times `back`, of the block-th block of a row, through a tile that no lane may still read.
  template <class Worker>
  TK_DEVICE void write(reg_tile<float, 64, N2> const& y, float back, int row, int block,
                       shared_tile<fp16, 64, N2> (&through)[2], Worker const& w) const {
    auto& via = reuse<shared_tile<float, 64, N2>>(through);
    tk::store(via, cast<float>(y * back));
    w.sync();
    int const outer = row / columns, column = first_column + row % columns;
    std::int64_t const at = std::int64_t{block} * L;
    TK_UNROLL
    for (auto const& out : of) {
      if (!out.to.data) continue;
      Out* const to = out.to.of(outer, column);
      T const* const gate = out.gate.data ? out.gate.of(outer, column) : nullptr;
      bool const plain = sizeof(Out) == 2 && !folds && there == n && n % 8 == 0 &&
                         begins_chunk(to) && (!gate || begins_chunk(gate));
      if (plain) write_chunks(to, gate, at, via);
      else write_runs(to, gate, at, via, w);
    }
    w.sync();  // all have read
  }

 private:
  // Where runs are chunks of 16 bytes, all there or none: gates are on their way at once.
  TK_DEVICE void write_chunks(Out* to, T const* gate, std::int64_t at,
                              shared_tile<float, 64, N2> const& via) const {
    using runs = held_runs<T, 64, N2>;
    runs by;
    if (gate) by.load({gate, nullptr, n, false}, at);
    TK_UNROLL
    for (int i = 0; i < runs::each; ++i) {
      int const nth = runs::nth(i);
      auto y = take_run(via, nth / runs::across, nth % runs::across * 8);
      if (gate) {
        auto const g = by.run(i, false);
        TK_UNROLL
        for (int e = 0; e < 8; ++e) y.x[e] *= g.x[e];
      }
      if (at + 8 * nth < n) write_run(to, at + 8 * nth, n, y);
    }
  }
  template <class Worker>
  TK_DEVICE void write_runs(Out* to, T const* gate, std::int64_t at,
                            shared_tile<float, 64, N2> const& via, Worker const& w) const {
    for_each_run(via, w, [&](int r, int col, run_of_eight y) {
      std::int64_t const place = at + r * N2 + col;
      if (place >= n) return;
      if (folds) add_folded(y, via, static_cast<int>(place + n));
      run_of_eight by;
      if (gate) by = read_run(gate, place, n, false);
      TK_UNROLL
      for (int i = 0; i < 8; ++i) {
        if (gate) y.x[i] *= by.x[i];
        if (place + i >= there) y.x[i] = 0;
      }
      write_run(to, place, n, y);
    });
  }
  // From a place on that need not be a run's.
  static TK_DEVICE void add_folded(run_of_eight& y, shared_tile<float, 64, N2> const& from,
                                   int place) {
    using tile = shared_tile<float, 64, N2>;
    auto const* const bytes = reinterpret_cast<char const*>(&from);
    TK_UNROLL
    for (int i = 0; i < 8; ++i)
      if (int const at = place + i; at < L)
        y.x[i] += *reinterpret_cast<float const*>(bytes + tile::offset(at / N2, at % N2));
  }
};

}  // namespace tk
