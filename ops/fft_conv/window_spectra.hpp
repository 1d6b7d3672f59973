// SPDX-License-Identifier: MIT
// Spectra of windows of sequences: of a block of L = N / 2 elements, alone, or beside the block
// before it (which a causal convolution wants to know) or after it (a correlation). With the block
// itself in the window's first half and the other one in the second, the first half of a product of
// spectra is right everywhere: what comes from the block before wraps around the window's end,
// which turns its sign, and so it is negated. Shapes    x[b, h, n] and a gate of its shape, or
// none; spectra[b, h, blocks]. Numerics  each window is scaled by a power of two to what fp16 holds
// best. Order     a worker has a window.
#pragma once
#include "core/schedule.hpp"
#include "ops/fft_conv/signals.hpp"
#include "ops/fft_conv/terms.hpp"
#include "ops/fft_conv/transform.hpp"

namespace tk {

template <class T, int N2, bool Both> struct window_spectra {
  using sizes = fft_sizes<N2>;
  static constexpr int workers = be::tune_fft_conv().workers, cluster = 1, stages = 1,
                       own_slots = 1, L = sizes::half;
  struct args {
    strided_sequences<T const> x, gate;
    std::int64_t n;
    int b, h, first_h;  // of channels from first_h on there are h
    int first, blocks;  // of each sequence, from the first-th on
    bool wraps;
    window_kind kind;
    spectra<N2> to;
  };
  struct stage {};
  struct own {};
  struct scratch {
    typename sizes::half_tile x[2];
    float exchange[be::worker_warps];
  };
  using resident = fft_factors<N2>;
  struct task {
    int first, steps;
  };

  static TK_BOTH int windows(args const& a) { return a.b * a.h * a.blocks; }
  static TK_BOTH int tasks(args const& a) { return ceil_div(windows(a), workers); }
  static TK_BOTH task task_at(args const&, int i, int) { return {i * workers, 0}; }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  static TK_DEVICE void load_own(own&, args const&, task const&, int, be::arrival) {}
  template <class Worker>
  static TK_DEVICE void fill_resident(Worker const& w, resident& r, args const&) {
    r.fill(w.id() * be::worker_lanes + w.lane(), workers * be::worker_lanes);
  }

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const window = t.first + c.w.id();
    if (window >= windows(a)) return;
    int const block = a.first + window % a.blocks, sequence = window / a.blocks;
    int const b = sequence / a.h, h = a.first_h + sequence % a.h;
    gated_sequence<T> const x{a.x.of(b, h), a.gate.data ? a.gate.of(b, h) : nullptr, a.n, a.wraps};
    bool const before = a.kind == window_kind::before;
    std::int64_t const at = std::int64_t{block} * L, other = before ? at - L : at + L;
    // Alone, a block ends where its sequence does.
    gated_sequence<T> mine = x;
    if (a.kind == window_kind::alone) mine.wraps = false;

    float most = largest_of(mine, at, L, c.w);
    if constexpr (Both) most = be::max(most, largest_of(x, other, L, c.w));
    most = max_of_lanes(c.w, most, c.scratch.exchange);
    float const scale = scale_to(most, 8);
    fill(c.scratch.x[0], mine, at, scale, c.w);
    if constexpr (Both) fill(c.scratch.x[1], x, other, before ? -scale : scale, c.w);
    c.w.sync();
    typename sizes::values s;
    transform<Both>(s, c.scratch.x, c.resident);
    c.w.sync();  // all have read, and exchanged
    float const back = inverse_of_power(scale);
    s.re = s.re * back;
    s.im = s.im * back;
    tk::store(a.to, window, 0, s);
  }

 private:
  template <class Worker>
  static TK_DEVICE void fill(typename sizes::half_tile& dst, gated_sequence<T> const& x,
                             std::int64_t first, float scale, Worker const& w) {
    fill_runs(dst, w.lane(), be::worker_lanes, [&](int row, int col) {
      auto y = x.read(first + row * N2 + col);
      TK_UNROLL
      for (float& e : y.x) e *= scale;
      return y;
    });
  }
};

}  // namespace tk
