// SPDX-License-Identifier: MIT
// Convolutions with short filters, and correlations, directly: with sequences in blocks of 64
// elements, and taps in Toeplitz matrices,
//   y[block] = gate o sum over d < 3 of x[block - d] T_d^T,   T_d[i, t] = k[64 d + i - t]
// or, of a correlation, x[block + d] and k[64 d + t - i]; taps that are not there are 0.
// Shapes    x[b, h, n] and a gate; k[h / share, nk], nk at most 128; outputs[b, h, n]
// (outputs.hpp). Numerics  taps, and gated elements, are rounded to T, fp16 after scaling by a
// power of two; sums
//           fp32.
// Order     64 blocks are a window. A worker has some windows of all sequences of a filter, whose
//           matrices it makes once.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/outputs.hpp"
#include "ops/fft_conv/windows.hpp"

namespace tk {

template <class T> struct short_conv {
  static constexpr int workers = be::tune_fft_conv().short_workers, cluster = 1, stages = 1,
                       own_slots = 1, B = 64, most_taps = 2 * B, diagonals = 3;
  using tile = shared_tile<T, B, B>;
  struct args {
    strided_sequences<T const> x, gate;
    float const* k;
    std::int64_t k_stride;
    int nk, n, b, h, share;
    bool wraps, correlates;
    int each;  // windows of a task
    block_outputs<T, T, B> to;
  };
  struct stage {};
  struct own {};
  struct scratch {
    tile x[diagonals], taps[diagonals];
    magnitudes_exchange exchange;
  };
  struct task {
    int first, steps;  // of the workers
  };

  // Windows of a sequence, of a filter's sequences, and tasks of a filter.
  static TK_BOTH int of_sequence(args const& a) { return ceil_div(a.n, B * B); }
  static TK_BOTH int of_filter(args const& a) { return a.b * a.share * of_sequence(a); }
  static TK_BOTH int parts(args const& a) { return ceil_div(of_filter(a), a.each); }
  static TK_BOTH int all(args const& a) { return a.h / a.share * parts(a); }
  static TK_BOTH int tasks(args const& a) { return ceil_div(all(a), workers); }
  static TK_BOTH task task_at(args const&, int i, int) { return {i * workers, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  static TK_DEVICE void load_own(own&, args const&, task const&, int, be::arrival) {}

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const index = t.first + c.w.id();
    if (index >= all(a)) return;
    int const filter = index / parts(a), first = index % parts(a) * a.each;
    float const of_taps = make_taps(c, a, filter);
    TK_ROLL
    for (int i = first; i < first + a.each && i < of_filter(a); ++i) {
      int const window = i % of_sequence(a), sequence = i / of_sequence(a);
      int const b = sequence / a.share, h = filter * a.share + sequence % a.share;
      auto& x = c.scratch.x;
      float const scale = load_window(c, a, b, h, window);
      c.w.sync();  // the window, and the taps, are there
      reg_tile<float, B, B> y;
      mm_abt(y, x[0], c.scratch.taps[0]);
      mma_abt(y, x[1], c.scratch.taps[1]);
      mma_abt(y, x[2], c.scratch.taps[2]);
      wait<0>(y);
      c.w.sync();  // all products have read
      auto& sums = reuse<window_tiles<B>>(x);
      float const back = inverse_of_power(scale) * inverse_of_power(of_taps);
      a.to.put(sums[0], y, back, b * a.h + h);
      a.to.write(sums, b * a.h + h, window, c.w);
    }
  }

 private:
  // Of fp16 the scale.
  template <class Context> static TK_DEVICE float make_taps(Context& c, args const& a, int filter) {
    float const* const k = a.k + filter * a.k_stride;
    magnitudes size;
    TK_ROLL
    for (int i = 8 * c.w.lane(); i < a.nk; i += 8 * be::worker_lanes)
      size.add(read_run(k, i, a.nk, false));
    size = of_all_lanes(c.w, size, c.scratch.exchange);
    float const scale = scale_to(size.largest, 0);
    TK_ROLL
    for (int d = 0; d < diagonals; ++d)
      fill_runs(c.scratch.taps[d], c.w.lane(), be::worker_lanes, [&](int row, int col) {
        run_of_eight y;
        TK_UNROLL
        for (int e = 0; e < 8; ++e) {
          int const tap = B * d + (a.correlates ? col + e - row : row - col - e);
          y.x[e] = tap >= 0 && tap < a.nk ? scale * k[tap] : 0.f;
        }
        return y;
      });
    c.w.sync();  // all have exchanged
    return scale;
  }

  // x[d][r] = block r - d of the window, or r + d; the scale.
  template <class Context>
  static TK_DEVICE float load_window(Context& c, args const& a, int b, int h, int window) {
    gated_sequence<T> const from{a.x.of(b, h), a.gate.data ? a.gate.of(b, h) : nullptr, a.n,
                                 a.wraps};
    int const at = window * (B * B), before = a.correlates ? 0 : diagonals - 1;
    int const begin = at - before * B;
    constexpr int rows = B + diagonals - 1, across = B / 8, ahead = 4;
    // body(block of the window, column, run), for this lane's; a few are on their way at once.
    auto const for_each = [&](auto const& body) {
      bool const in_chunks = from.in_chunks(rows * B);
      TK_ROLL
      for (int n = c.w.lane(); n < rows * across; n += ahead * be::worker_lanes) {
        run_of_eight y[ahead];
        TK_UNROLL
        for (int i = 0; i < ahead; ++i) {
          int const nth = n + i * be::worker_lanes;
          if (nth < rows * across) y[i] = read(from, begin + 8 * nth, in_chunks);
        }
        TK_UNROLL
        for (int i = 0; i < ahead; ++i) {
          int const nth = n + i * be::worker_lanes;
          if (nth < rows * across) body(nth / across - before, nth % across * 8, y[i]);
        }
      }
    };
    float scale = 1;
    if constexpr (sizeof(T) == 2 && std::is_same_v<T, fp16>)
      if (from.gate) {  // products may be larger than fp16 holds
        magnitudes size;
        for_each([&](int, int, run_of_eight const& y) { size.add(y); });
        scale = scale_to(of_all_lanes(c.w, size, c.scratch.exchange).largest, 8);
      }
    for_each([&](int block, int col, run_of_eight const& y) {
      auto const z = scaled(y, scale);
      TK_UNROLL
      for (int d = 0; d < diagonals; ++d)
        if (int const row = a.correlates ? block - d : block + d; row >= 0 && row < B)
          put_run(c.scratch.x[d], row, col, z);
    });
    be::publish_shared();
    return scale;
  }
  static TK_DEVICE run_of_eight read(gated_sequence<T> const& x, int p, bool in_chunks) {
    if (!in_chunks) return x.read(p);
    if (x.wraps) p = p < 0 ? p + x.n : p >= x.n ? p - x.n : p;
    auto const y = widen_run<T>(read_chunk_inside(x.x, p, x.n));
    return x.gate ? product_of(y, widen_run<T>(read_chunk_inside(x.gate, p, x.n))) : y;
  }
};

}  // namespace tk
