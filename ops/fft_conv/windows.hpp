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
  std::int64_t n;
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
TK_DEVICE window_scale load_window(shared_tile<fp16, 64, N2> (&to)[2],
                                   window_source<T, N2> const& a, int index,
                                   magnitudes_exchange& exchange, Worker const& w) {
  constexpr int L = fft_sizes<N2>::half;
  int const block = a.first + index % a.blocks, sequence = index / a.blocks;
  int const b = sequence / a.h, h = a.first_h + sequence % a.h;
  // A block alone ends where its sequence does.
  gated_sequence<T> const all{a.x.of(b, h), a.gate.data ? a.gate.of(b, h) : nullptr, a.n, a.wraps},
      mine{all.x, all.gate, all.n, a.wraps && a.kind != window_kind::alone};
  bool const before = a.kind == window_kind::before, gated = all.gate != nullptr;
  std::int64_t const at = std::int64_t{block} * L, other = before ? at - L : at + L;
  window_scale scale{};
  magnitudes size;
  auto const choose_scale = [&] {
    auto const of_all = of_all_lanes(w, size, exchange);
    scale = {scale_to(of_all.largest, 8), of_all.sum};
  };
  if (all.in_chunks()) {
    held_runs<T, 64, N2> x;
    x.load(mine, at);
    x.add_to(size, gated);
    if constexpr (Both) {
      held_runs<T, 64, N2> y;
      y.load(all, other);
      y.add_to(size, gated);
      choose_scale();
      y.store(to[1], before ? -scale.by : scale.by, gated);
    } else {
      choose_scale();
    }
    x.store(to[0], scale.by, gated);
  } else {
    add_to(size, mine, at, L, w);
    if constexpr (Both) add_to(size, all, other, L, w);
    choose_scale();
    fill_scaled(to[0], mine, at, scale.by, w);
    if constexpr (Both) fill_scaled(to[1], all, other, before ? -scale.by : scale.by, w);
  }
  return scale;
}

// What kernels of the block template have that give each worker a window or a block of its own.
template <int N2> struct fft_workers {
  using sizes = fft_sizes<N2>;
  static constexpr int workers = be::tune_fft_conv().workers, cluster = 1, stages = 1,
                       own_slots = 1, L = sizes::half;
  struct stage {};
  struct own {};
  struct scratch {
    typename sizes::half_tile x[2];
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
