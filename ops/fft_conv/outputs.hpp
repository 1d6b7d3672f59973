// SPDX-License-Identifier: MIT
// Where blocks of a convolution's sums go: to one or two outputs, times a gate of its own each.
#pragma once
#include "ops/fft_conv/signals.hpp"
#include "ops/fft_conv/transform.hpp"

namespace tk {

// A block of the outputs [outer, column].
struct block_place {
  int outer, column, block;
};

// A worker has S of them side by side (transform.hpp); Split: even elements lie before odd ones.
template <class T, class Out, int N2, int S = 1, bool Split = false> struct block_outputs {
  static constexpr int L = fft_sizes<N2>::half, U = fft_sizes<N2>::U, V = fft_sizes<N2, S>::V;
  using runs = lane_runs<N2, S, Split>;
  struct output {
    strided_sequences<Out> to;        // data may be null
    strided_sequences<T const> gate;  // and so may this
  };
  output of[2];               // [rows, columns, n]
  int n, there;               // elements; from `there` on they are 0
  int columns, first_column;  // columns from the first on
  int blocks;
  bool folds;  // element n + t of the only block is added to t
  bool plain;  // there is one output, without a gate, all of it in chunks

  TK_DEVICE block_place place(int row, int block) const {
    return {row / columns, first_column + row % columns, block};
  }
  // Of blocks side by side, what transform_back makes of V columns, each times its back(s): fp32,
  // or, where nothing else is done to it, the output's type.
  template <class Back>
  TK_DEVICE void put(shared_tile<fp16, 64, V> (&to)[2], reg_tile<float, 64, V>& y,
                     Back const& back) const {
    using map = be::fragment_map<64, V>;
    constexpr int count = be::fragment_map<64, U>::count;
    if constexpr (std::is_same_v<Out, bf16>) {
      if (plain) {  // and powers of two may come last
        reg_tile<Out, 64, V> z = cast<Out>(y);
        TK_UNROLL
        for (int s = 0; s < S; ++s) {
          auto const by = be::pack(Out{}, back(s), back(s));
          TK_UNROLL
          for (int i = 0; i < count; i += 2) {
            auto& word = z.e[map::template part<U>(i, s) / 2];
            word = be::multiply_pairs(Out{}, word, by);
          }
        }
        store(as_they_leave(to), z);
        return;
      }
    }
    TK_UNROLL
    for (int s = 0; s < S; ++s) {
      float const by = back(s);
      TK_UNROLL
      for (int i = 0; i < count; ++i) y.e[map::template part<U>(i, s)] *= by;
    }
    if constexpr (sizeof(Out) == 2) {
      if (plain) {
        store(as_they_leave(to), cast<Out>(y));
        return;
      }
    }
    store(sums_in(to), cast<float>(y));
  }
  // A block, the s-th of those side by side, by its team, when all of them have been put.
  TK_DEVICE void write(window_tiles<N2, S>& y, block_place const& at, int s = 0) const {
    if (plain) return write_plain(at, s, y);
    TK_UNROLL
    for (auto const& out : of) {
      if (!out.to.data) continue;
      Out* const to = out.to.of(at.outer, at.column);
      T const* const gate = out.gate.data ? out.gate.of(at.outer, at.column) : nullptr;
      if (in_chunks(to) && (!gate || begins_chunk(gate)))
        write_chunks(to, gate, at.block * L, s, y);
      else write_runs(to, gate, at.block * L, s, y);
    }
  }

 private:
  TK_DEVICE bool in_chunks(Out const* to) const {
    return sizeof(Out) == 2 && !folds && there == n && n % 8 == 0 && begins_chunk(to);
  }
  static TK_DEVICE auto& as_they_leave(shared_tile<fp16, 64, V> (&x)[2]) {
    return reuse<shared_tile<Out, 64, V>>(x[0]);
  }
  TK_DEVICE void write_plain([[maybe_unused]] block_place const& at, [[maybe_unused]] int s,
                             [[maybe_unused]] window_tiles<N2, S>& y) const {
    if constexpr (sizeof(Out) == 2) {
      int const first = at.block * L + 8 * runs::nth(0);
      Out* const to = of[0].to.of(at.outer, at.column) + first;
      chunk16 words[runs::each];
      TK_UNROLL
      for (int i = 0; i < runs::each; ++i) {
        run_place<N2, Split> const from(runs::nth(i), s);
        words[i] = from.chunk(as_they_leave(y[from.part]));
      }
      TK_UNROLL
      for (int i = 0; i < runs::each; ++i) {
        constexpr int step = 8 * runs::lanes;
        if (first + i * step < n) be::write_16_bytes(to + i * step, words[i].w);
      }
    }
  }
  static TK_DEVICE run_of_eight take(window_tiles<N2, S>& y, int nth, int s) {
    run_place<N2, Split> const at(nth, s);
    return at.take(sums_in(y[at.part]));
  }
  TK_DEVICE void write_chunks(Out* to, T const* gate, int at, int s, window_tiles<N2, S>& y) const {
    TK_ROLL
    for (int i = 0; i < runs::each; i += runs::ahead) {
      chunk16 gates[runs::ahead];
      TK_UNROLL
      for (int k = 0; k < runs::ahead; ++k)
        if (gate) gates[k] = read_chunk_inside(gate, at + 8 * runs::nth(i + k), n);
      TK_UNROLL
      for (int k = 0; k < runs::ahead; ++k) {
        int const nth = runs::nth(i + k), place = at + 8 * nth;
        auto z = take(y, nth, s);
        if (gate) z = product_of(z, widen_run<T>(gates[k]));
        if (place < n) write_chunk(to + place, z);
      }
    }
  }
  TK_DEVICE void write_runs(Out* to, T const* gate, int at, int s, window_tiles<N2, S>& y) const {
    TK_ROLL
    for (int i = 0; i < runs::each; ++i) {
      int const nth = runs::nth(i);
      int const place = at + 8 * nth;
      if (place >= n) continue;
      auto z = take(y, nth, s);
      if (!Split && folds) add_folded(z, y, s, place + n);
      if (gate) z = product_of(z, read_run(gate, place, n, false));
      TK_UNROLL
      for (int e = 0; e < 8; ++e)
        if (place + e >= there) z.x[e] = 0;
      write_run(to, place, n, z);
    }
  }
  // From a place on that need not be a run's.
  static TK_DEVICE void add_folded(run_of_eight& z, window_tiles<N2, S>& y, int s, int place) {
    using tile = shared_tile<float, 64, V>;
    TK_UNROLL
    for (int i = 0; i < 8; ++i)
      if (int const at = place + i; at < L) {
        int const col = at % N2;
        auto const* const bytes = reinterpret_cast<char const*>(&sums_in(y[col / U]));
        z.x[i] += *reinterpret_cast<float const*>(bytes + tile::offset(at / N2, s * U + col % U));
      }
  }
};

// The block whose sums' spectrum is p, times back 2^exponent, by a worker of fft_workers. fp32 need
// not hold that factor.
template <class Context, class T, class Out, int N2>
TK_DEVICE void write_block(Context& c, packed_complex<N2> const (&p)[1],
                           block_outputs<T, Out, N2> const& to, block_place const& at, float back,
                           int exponent) {
  float const half = power_of_two(exponent / 2);
  back *= power_of_two(exponent - exponent / 2);
  transform_back(
      c.scratch.x, p, c.resident, c.w, [] {}, [] {},
      [&](auto& through, auto& y) {
        y = y * half;
        to.put(through, y, [=](int) { return back; });
      });
  c.w.sync();  // it is there
  to.write(c.scratch.x, at);
  c.w.sync();  // all have read
}

}  // namespace tk
