// SPDX-License-Identifier: MIT
// Windows of sequences: a block of L = N / 2 elements, alone, or beside the block before it (which
// a causal convolution wants to know) or after it (a correlation). With the block itself in the
// window's first half and the other one in the second, the first half of a product of spectra is
// right everywhere: what comes from the block before wraps around the window's end, which turns its
// sign, and so it is negated.
#pragma once
#include "ops/fft_conv/signals.hpp"
#include "ops/fft_conv/terms.hpp"
#include "ops/fft_conv/transform.hpp"

namespace tk {

// x[b, h, n], or of some channels, and a gate of its shape, or none.
template <class T, int N2> struct window_source {
  using sizes = fft_sizes<N2>;
  strided_sequences<T const> x, gate;
  int n;
  int b, h, first_h;  // of channels from first_h on there are h
  int first, blocks;  // of each sequence, from the first-th on
  bool wraps;
  window_kind kind;

  TK_BOTH int count() const { return b * h * blocks; }
};

// What a window was multiplied by, a power of two, and the sum of its magnitudes before that.
struct window_scale {
  float by, sum;
};

// The index-th window of a source as two tiles, by a worker. Without Both the second half is 0, and
// not written. `exchange` and the tiles are used again after a barrier.
template <bool Both, class T, int N2, class Worker>
TK_DEVICE window_scale load_window(window_tiles<N2>& to, window_source<T, N2> const& a, int index,
                                   magnitudes_exchange& exchange, Worker const& w) {
  constexpr int L = fft_sizes<N2>::half;
  int const block = a.first + index % a.blocks, sequence = index / a.blocks;
  int const b = sequence / a.h, h = a.first_h + sequence % a.h;
  // A block alone ends where its sequence does.
  gated_sequence<T> const all{a.x.of(b, h), a.gate.data ? a.gate.of(b, h) : nullptr, a.n, a.wraps},
      mine{all.x, all.gate, all.n, a.wraps && a.kind != window_kind::alone};
  bool const before = a.kind == window_kind::before;
  int const at = block * L, other = before ? at - L : at + L;
  magnitudes size;
  auto const add = [&](int, run_of_eight const& y) { size.add(y); };
  for_each_run<N2>(mine, at, add);
  if constexpr (Both) for_each_run<N2>(all, other, add);
  size = of_all_lanes(w, size, exchange);
  window_scale const scale{scale_to(size.largest, 8), size.sum};
  fill_scaled<N2>(to, 0, mine, at, scale.by);
  if constexpr (Both) fill_scaled<N2>(to, 1, all, other, before ? -scale.by : scale.by);
  return scale;
}

// What kernels of the block template have that give each worker a window or a block of its own.
template <int N2> struct fft_workers {
  using sizes = fft_sizes<N2>;
  static constexpr auto tune = be::tune_fft_conv();
  static constexpr int workers = N2 <= 32 ? tune.few_points_workers : tune.workers, cluster = 1,
                       stages = 1, own_slots = 1, L = sizes::half;
  struct stage {};
  struct own {};
  struct scratch {
    window_tiles<N2> x;
    magnitudes_exchange exchange;
  };
  using resident = fft_factors<N2>;
  struct task {
    int first, steps;  // of the workers
  };

  template <class Args> static TK_BOTH task task_at(Args const&, int i, int) {
    return {i * workers, 0};
  }
  template <class Args>
  static TK_DEVICE void load(stage&, Args const&, task const&, int, be::arrival) {}
  template <class Args>
  static TK_DEVICE void load_own(own&, Args const&, task const&, int, be::arrival) {}
  template <class Worker, class Args>
  static TK_DEVICE void fill_resident(Worker const& w, resident& r, Args const&) {
    r.fill(w.id() * be::worker_lanes + w.lane(), workers * be::worker_lanes);
  }
};

}  // namespace tk
