// SPDX-License-Identifier: MIT
// Convolutions with short filters, and correlations, directly: with sequences in blocks of 64
// elements, and taps in Toeplitz matrices,
//   y[block] = gate o sum over d < 3 of x[block - d] T_d^T,   T_d[i, t] = k[64 d + i - t]
// or, of a correlation, x[block + d] and k[64 d + t - i]; taps that are not there are 0.
// Shapes    x[b, h, n] and a gate; k[h / share, nk], nk at most 128; outputs[b, h, n]
//           (outputs.hpp).
// Numerics  taps, and gated elements, are rounded to T, fp16 after scaling by a power of two; sums
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

  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    int const index = t.first + c.w.id();
    if (index >= all(a)) return;
    int const filter = index / parts(a), first = index % parts(a) * a.each,
              end = first + a.each < of_filter(a) ? first + a.each : of_filter(a);
    // Matrices of zeros add nothing.
    int const used = a.nk > B + 1 ? 3 : a.nk > 1 ? 2 : 1;
    float const of_taps = make_taps(c, a, filter, used);
    TK_ROLL
    for (int i = first; i < end; ++i) {
      place const at(a, filter, i);
      if (i + 1 < end) place(a, filter, i + 1).prefetch();
      auto& x = c.scratch.x;
      auto const& taps = c.scratch.taps;
      float const scale = load_window(c, a, at, used);
      c.w.sync();  // the window, and the taps, are there
      reg_tile<float, B, B> y;
      mm_abt(y, x[0], taps[0]);
      if (used > 1) mma_abt(y, x[1], taps[1]);
      if (used > 2) mma_abt(y, x[2], taps[2]);
      wait<0>(y);
      c.w.sync();  // all products have read
      auto& sums = reuse<window_tiles<B>>(x);
      float const back = inverse_of_power(scale) * inverse_of_power(of_taps);
      a.to.put(sums[0], y, [=](int) { return back; });
      c.w.sync();  // it is there
      a.to.write(sums, {at.b, at.h, at.window});
      c.w.sync();  // all have read
    }
  }

 private:
  // Blocks of a window and those that its first ones want to know, in chunks of eight elements.
  static constexpr int rows = B + diagonals - 1, across = B / 8, chunks = rows * across,
                       each = ceil_div(chunks, be::worker_lanes);

  // The i-th window of a filter's sequences.
  struct place {
    int b, h, window, begin;  // begin: where the blocks that it reads do
    gated_sequence<T> from;
    TK_DEVICE place(args const& a, int filter, int i) : window(i % of_sequence(a)) {
      int const sequence = i / of_sequence(a);
      b = sequence / a.share;
      h = filter * a.share + sequence % a.share;
      begin = (window * B - before(a)) * B;
      from = {a.x.of(b, h), a.gate.data ? a.gate.of(b, h) : nullptr, a.n, a.wraps};
    }
    // Has caches fetch what is inside of the sequence.
    TK_DEVICE void prefetch() const {
      constexpr int line = 64, lines = ceil_div(rows * B, line);  // of 128 bytes
      TK_UNROLL
      for (int i = 0; i < lines; i += be::worker_lanes) {
        int const nth = i + be::worker_lane(), p = begin + nth * line;
        if (nth >= lines || p < 0 || p >= from.n) continue;
        be::prefetch(from.x + p);
        if (from.gate) be::prefetch(from.gate + p);
      }
    }
    // Of a sequence in chunks.
    TK_DEVICE chunk16 chunk(T const* x, int nth) const {
      int p = begin + 8 * nth;
      if (from.wraps) p = p < 0 ? p + from.n : p >= from.n ? p - from.n : p;
      return nth < chunks ? read_chunk_inside(x, p, from.n) : chunk16{};
    }
  };
  static TK_DEVICE int before(args const& a) { return a.correlates ? 0 : diagonals - 1; }

  // Of fp16 the scale.
  template <class Context>
  static TK_DEVICE float make_taps(Context& c, args const& a, int filter, int used) {
    // Taps from -B to before diagonals B: all that the matrices ask for.
    constexpr int count = (diagonals + 1) * B;
    using padded_taps = float[count];
    auto& padded = reuse<padded_taps>(c.scratch.x);
    float const* const k = a.k + filter * a.k_stride;
    float largest = 0;
    TK_ROLL
    for (int i = c.w.lane(); i < a.nk; i += be::worker_lanes)
      largest = be::max(largest, __builtin_fabsf(k[i]));
    float const scale =
        scale_to(of_all_lanes<false>(c.w, {largest, 0}, c.scratch.exchange).largest, 0);
    TK_ROLL
    for (int i = c.w.lane(); i < count; i += be::worker_lanes) {
      int const tap = i - B;
      padded[i] = tap >= 0 && tap < a.nk ? scale * k[tap] : 0.f;
    }
    c.w.sync();  // they are there, and all have exchanged
    TK_ROLL
    for (int d = 0; d < used; ++d)
      fill_runs(c.scratch.taps[d], c.w.lane(), be::worker_lanes, [&](int row, int col) {
        run_of_eight y;
        TK_UNROLL
        for (int e = 0; e < 8; ++e)
          y.x[e] = padded[B + B * d + (a.correlates ? col + e - row : row - col - e)];
        return y;
      });
    c.w.sync();  // all have read
    return scale;
  }

  // x[d][r] = block r - d of the window, or r + d, for d < used; the scale.
  template <class Context>
  static TK_DEVICE float load_window(Context& c, args const& a, place const& at, int used) {
    auto const put = [&](int nth, chunk16 const& words) {
      int const block = nth / across - before(a), col = nth % across * 8;
      TK_UNROLL
      for (int d = 0; d < diagonals; ++d)
        if (int const row = a.correlates ? block - d : block + d; d < used && row >= 0 && row < B)
          put_chunk(c.scratch.x[d], row, col, words);
    };
    // Products with a gate may be larger than fp16 holds.
    constexpr bool scales = std::is_same_v<T, fp16>;
    auto const scale_of = [&](float largest) {
      return scale_to(of_all_lanes<false>(c.w, {largest, 0}, c.scratch.exchange).largest, 8);
    };
    float scale = 1;
    if (!at.from.in_chunks(rows * B)) {
      if constexpr (scales) {
        float largest = 0;
        if (at.from.gate) {
          TK_ROLL
          for (int n = c.w.lane(); n < chunks; n += be::worker_lanes)
            largest = be::max(largest, largest_magnitude(at.from.read(at.begin + 8 * n)));
          scale = scale_of(largest);
        }
      }
      TK_ROLL
      for (int n = c.w.lane(); n < chunks; n += be::worker_lanes)
        put(n, pack_run<T>(scaled(at.from.read(at.begin + 8 * n), scale)));
    } else {  // all are on their way at once
      auto const nth = [&](int i) { return c.w.lane() + i * be::worker_lanes; };
      chunk16 x[each];
      TK_UNROLL
      for (int i = 0; i < each; ++i) x[i] = at.chunk(at.from.x, nth(i));
      if (at.from.gate) {
        chunk16 gates[each];
        TK_UNROLL
        for (int i = 0; i < each; ++i) gates[i] = at.chunk(at.from.gate, nth(i));
        auto const product = [&](int i) {
          return product_of(widen_run<T>(x[i]), widen_run<T>(gates[i]));
        };
        if constexpr (scales) {
          float largest = 0;
          TK_UNROLL
          for (int i = 0; i < each; ++i) largest = be::max(largest, largest_magnitude(product(i)));
          scale = scale_of(largest);
        }
        TK_UNROLL
        for (int i = 0; i < each; ++i) x[i] = pack_run<T>(scaled(product(i), scale));
      }
      TK_UNROLL
      for (int i = 0; i < each; ++i)
        if (nth(i) < chunks) put(nth(i), x[i]);
    }
    be::publish_shared();
    return scale;
  }
};

}  // namespace tk
