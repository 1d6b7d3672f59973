// SPDX-License-Identifier: MIT
// Windows of sequences: a block of L = N / 2 elements, alone, or beside the block before it (which
// a causal convolution wants to know) or after it (a correlation). With the block itself in the
// window's first half and the other one in the second, the first half of a product of spectra is
// right everywhere: what comes from the block before wraps around the window's end, which turns its
// sign, and so it is negated. A block that stands beside itself, as where one block goes round, is
// alone, and the filter's spectrum has what that changes; or it is transformed at whole frequencies
// (whole_transform.hpp).
#pragma once
#include <type_traits>

#include "ops/fft_conv/signals.hpp"
#include "ops/fft_conv/terms.hpp"
#include "ops/fft_conv/transform.hpp"

namespace tk {

// x[b, h, n], or of some channels, and a gate of its shape, or none.
template <class T, int N2> struct window_source {
  using sizes = fft_sizes<N2>;
  strided_sequences<T const> x, gate;
  int n;
  int b, h, first_h;      // of channels from first_h on there are h
  int first, blocks;      // of each sequence, from the first-th on
  bool wraps, in_chunks;  // in_chunks: every lane reads chunks of 16 bytes (signals.hpp)
  window_kind kind;

  TK_BOTH int count() const { return b * h * blocks; }
};

// A window of a source: of which sequence, h among those of the source, and which of its blocks.
struct window_place {
  int b, h, block;
  // The index-th, by sequences [b, h], or by those of a channel, one after another.
  template <class Source> static TK_DEVICE window_place of(Source const& a, int index) {
    int const sequence = index / a.blocks;
    return {sequence / a.h, sequence % a.h, index % a.blocks};
  }
  template <class Source> static TK_DEVICE window_place by_channel(Source const& a, int index) {
    int const sequence = index / a.blocks;
    return {sequence % a.b, sequence / a.b, index % a.blocks};
  }
  // The one that comes `by` windows later, by channels.
  template <class Source> TK_DEVICE void advance(Source const& a, int by) {
    block += by;
    for (; block >= a.blocks; block -= a.blocks) ++b;
    for (; b >= a.b; b -= a.b) ++h;
  }
};

// What a window was multiplied by, a power of two, and the sum of its magnitudes before that, where
// it is asked for.
struct window_scale {
  float by, sum;
};

// Windows of a source. put() brings one, the s-th of S side by side, into two tiles, by its team of
// a worker, times its gate; prefetch() has caches fetch one's first half. Without Both the second
// half is 0, and not written. Split: even elements lie before odd ones.
template <class T, int N2, bool Both, int S = 1, bool Split = false> class window_reader {
 public:
  using source = window_source<T, N2>;
  using runs = lane_runs<N2, S, Split>;
  static constexpr int halves = Both ? 2 : 1, L = fft_sizes<N2>::half;

  static TK_DEVICE void prefetch(source const& a, window_place const& at) {
    sequence const x(a, at);
    constexpr int line = 64, lines = L / line;  // of 128 bytes
    TK_UNROLL
    for (int i = 0; i < lines; i += runs::lanes) {
      int const nth = i + teams<S>::lane(), p = x.at[0] + nth * line;
      if (nth < lines && p < a.n) be::prefetch(x.half[0].x + p);
    }
  }

  // What a lane reads of a window, on its way, where sequences are in chunks.
  struct fetched {
    chunk16 words[halves][runs::each];
  };
  static TK_DEVICE fetched fetch(source const& a, window_place const& at) {
    fetched y;
    if (a.in_chunks) {
      sequence const x(a, at);
      TK_UNROLL
      for (int half = 0; half < halves; ++half)
        read_chunks(y.words[half], x.half[half], x.half[half].x, x.at[half]);
    } else {  // else registers would keep what was there before
      y = {};
    }
    return y;
  }

  // Whether a window's largest magnitude may be looked for as soon as it has come, by measure(), of
  // which put() wants to know after a barrier, as it does of the first step of of_all_lanes(). Of
  // windows of both halves, and small, hardly any is in chunks.
  static TK_DEVICE bool measures(source const& a) { return !Both && a.in_chunks && !a.gate.data; }
  template <class Worker>
  static TK_DEVICE magnitudes measure(source const& a, fetched const& from,
                                      magnitudes_exchange& exchange, Worker const& w) {
    if (!measures(a)) return {};
    std::uint32_t most = 0;
    TK_UNROLL
    for (auto const& half : from.words) TK_UNROLL
    for (chunk16 const& x : half) TK_UNROLL
    for (std::uint32_t const word : x.w) most = be::max_magnitudes(T{}, most, word);
    float const largest =
        be::max(__builtin_fabsf(half_of<T>(most, 0)), __builtin_fabsf(half_of<T>(most, 1)));
    return of_warp<false, runs::lanes>(w, {largest, 0}, exchange);
  }

  // It is scaled to less than 2^bits; with Sum the magnitudes are added up. `exchange` and the
  // tiles are used again after a barrier. Measured: `known` is what measure() gave, where it does.
  template <bool Sum, bool Measured = false, class Worker>
  static TK_DEVICE window_scale put(window_tiles<N2, S>& to, source const& a,
                                    window_place const& at, fetched const& from,
                                    magnitudes_exchange& exchange, Worker const& w,
                                    int bits = window_bits, int s = 0,
                                    [[maybe_unused]] magnitudes known = {}) {
    auto const place = [&](int half, int nth, run_of_eight const& y) {
      run_place<N2, Split> const in(nth, s);
      in.put(to[in.part][half], y);
    };
    float const sign = a.kind == window_kind::before ? -1.f : 1.f;
    window_scale scale;
    auto const put_all = [&](auto const& for_each_run) {
      magnitudes size;
      for_each_run([&](int, int, run_of_eight const& y) {
        if constexpr (Sum) size.add(y);
        else size.largest = be::max(size.largest, largest_magnitude(y));
      });
      size = of_all_lanes<Sum, runs::lanes>(w, size, exchange);
      scale = {scale_to(size.largest, bits), size.sum};
      for_each_run([&](int half, int nth, run_of_eight const& y) {
        place(half, nth, scaled(y, half ? sign * scale.by : scale.by));
      });
    };
    auto const for_each_chunk = [&](auto const& body) {
      TK_UNROLL
      for (int half = 0; half < halves; ++half) TK_UNROLL
      for (int i = 0; i < runs::each; ++i) body(half, i);
    };
    if (a.in_chunks && a.gate.data) {  // which are read once
      chunk16 gates[halves][runs::each];
      sequence const x(a, at);
      TK_UNROLL
      for (int half = 0; half < halves; ++half)
        read_chunks(gates[half], x.half[half], x.half[half].gate, x.at[half]);
      put_all([&](auto body) {
        for_each_chunk([&](int half, int i) {
          body(half, runs::nth(i),
               product_of(widen_run<T>(from.words[half][i]), widen_run<T>(gates[half][i])));
        });
      });
    } else if (a.in_chunks) {
      if constexpr (Measured && !Both) {
        float const largest = of_warps<false, runs::lanes>(w, known, exchange).largest;
        scale = {scale_to(largest, bits), 0};
        for_each_chunk([&](int half, int i) {
          place(half, runs::nth(i), scaled_by_power<T>(from.words[half][i], scale.by));
        });
      } else {
        put_all([&](auto body) {
          for_each_chunk([&](int half, int i) {
            body(half, runs::nth(i), widen_run<T>(from.words[half][i]));
          });
        });
      }
    } else {
      sequence const x(a, at);
      put_all([&](auto body) {
        TK_UNROLL
        for (int half = 0; half < halves; ++half) TK_ROLL
        for (int i = 0; i < runs::each; ++i) {
          int const nth = runs::nth(i);
          body(half, nth, x.half[half].read(x.at[half] + 8 * nth));
        }
      });
    }
    be::publish_shared();
    return scale;
  }

 private:
  // Where its halves lie.
  struct sequence {
    gated_sequence<T> half[2];
    int at[2];
    TK_DEVICE sequence(source const& a, window_place const& x) {
      int const h = a.first_h + x.h;
      half[1] = {a.x.of(x.b, h), a.gate.data ? a.gate.of(x.b, h) : nullptr, a.n, a.wraps};
      half[0] = half[1];
      // A block alone ends where its sequence does.
      half[0].wraps = a.wraps && a.kind != window_kind::alone;
      at[0] = (a.first + x.block) * L;
      at[1] = a.kind == window_kind::before ? at[0] - L : at[0] + L;
    }
  };
  static TK_DEVICE void read_chunks(chunk16 (&to)[runs::each], gated_sequence<T> const& s,
                                    T const* x, int first) {
    if (first >= 0 && first + L <= s.n) {  // all of it
      auto const* const from = reinterpret_cast<chunk16 const*>(x + first);
      TK_UNROLL
      for (int i = 0; i < runs::each; ++i) be::read_16_bytes_once(to[i].w, from + runs::nth(i));
    } else {
      TK_UNROLL
      for (int i = 0; i < runs::each; ++i)
        to[i] = read_chunk_inside(x, s.inside(first, 8 * runs::nth(i)), s.n);
    }
  }
};

// What all lanes want to know of windows side by side.
struct side_by_side {
  int filter;
  float back;  // what the sums are multiplied by
};

// Whether what lies between products of windows of T is pairs of fp16.
template <class T>
inline constexpr bool in_pairs = be::tune_fft_conv().pairs && std::is_same_v<T, bf16>;

// What kernels of the block template have that give each worker windows or blocks of its own, S of
// them side by side.
template <int N2, bool Pairs, int Workers, int S = 1, class Factors = fft_factors<N2, Pairs>>
struct fft_workers {
  using sizes = fft_sizes<N2, S>;
  static constexpr int workers = Workers, cluster = 1, stages = 1, own_slots = 1, L = sizes::half;
  struct stage {};
  struct own {};
  struct scratch {
    window_tiles<N2, S> x;
    magnitudes_exchange exchange;
    side_by_side of[S];
  };
  using resident = Factors;
  struct task {
    int first, steps;  // of the workers
  };

  template <class Args> static TK_BOTH task task_at(Args const&, int i, int) {
    return {i * workers, 0};
  }
  template <class Args>
  static TK_DEVICE void load(stage&, Args const&, task const&, int, be::arrival) {}
  template <class Worker, class Args>
  static TK_DEVICE void fill_resident(Worker const& w, resident& r, Args const&) {
    r.fill(w.id(), workers);
  }
};
template <class T, int N2>
using window_workers = fft_workers<N2, in_pairs<T>, be::tune_fft_workers(N2, in_pairs<T>).windows>;

}  // namespace tk
