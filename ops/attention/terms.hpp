// SPDX-License-Identifier: MIT
// What attention's options do to a tile of scores, on the device (attention_options.h). They are
// the same for all rows of a launch: branches round passes over the tile, none inside.
#pragma once
#include "core/activation.hpp"
#include "core/random.hpp"
#include "core/reduce.hpp"
#include "ops/attention/problem.hpp"
#include "ops/attention/sequences.hpp"

namespace tk {

// In place of terms, and of a task's place, in kernels without options. Members of these types take
// their byte: with [[no_unique_address]] nvcc 13.0 gave some kernels arguments of twice their size,
// and these kernels failed.
struct no_terms {};
struct no_place {};

// x y, and 0 where y is, whatever x is.
struct times_or_zero {
  TK_DEVICE float operator()(float x, float y) const { return y == 0.f ? 0.f : x * y; }
};

struct softcap_of {
  float cap, inverse;
  TK_DEVICE float operator()(float x) const { return cap * tanh(x * inverse); }
};

template <class T> struct device_terms {
  float softcap, inverse_softcap;  // 0: none
  by_head alibi, sinks;
  tensor<T const> bias;  // of one of the two types, or null
  tensor<float const> wide_bias;
  int bias_width;
  key_window seen;
  packed_rows q, k;  // starts are null where nothing is packed
  int dropout;       // of 256
  std::uint64_t seed, offset;
  std::uint64_t const* random_state;

  TK_DEVICE float slope(int batch, int head) const {
    return alibi.data ? alibi.data[batch * alibi.b_stride + head * alibi.h_stride] : 0.f;
  }
  // log2(e) times the sink of a head; -inf where there is none.
  TK_DEVICE float sink_log2(int head) const {
    return sinks.data ? sinks.data[head * sinks.h_stride] * log2_e : -inf;
  }
  TK_DEVICE random_plane plane(int batch, int head, int heads) const {
    return random_plane_of(random_state, seed, offset,
                           static_cast<std::uint32_t>(batch * heads + head));
  }

  // What weights that are kept are multiplied by.
  TK_DEVICE float kept_inverse() const { return tk::kept_inverse(dropout); }
  TK_DEVICE float kept_inverse_log2() const { return be::log2(kept_inverse()); }

  TK_BOTH bool packed() const { return q.starts != nullptr; }
  TK_BOTH sequence at(int s) const { return {q.start(s), k.start(s), q.length(s), k.length(s)}; }
};

// Elements that are no row's key become `fill`, of a tile of R rows from `row` and C keys from
// `key` on.
template <int R, int C>
TK_DEVICE void keep_seen(reg_tile<float, R, C>& x, key_window const& seen, sequence const& of,
                         int row, int key, float fill) {
  int const diagonal = row + of.nk - of.nq - key;  // the column opposite the first row
  if (key + C > of.nk) keep_cols(x, of.nk - key, fill);
  if (diagonal + seen.right < C - 1) keep_lower(x, diagonal + seen.right, fill);
  if (R - 1 + diagonal - seen.left > 0) keep_upper(x, seen.left - diagonal, fill);
}

// The terms of scores, of R rows from `row` and C keys from `key` on, without the softcap.
template <class T, int R, int C>
TK_DEVICE void add_terms(reg_tile<float, R, C>& s, device_terms<T> const& x, sequence const& of,
                         float slope, int row, int key, int head, int batch) {
  if (x.alibi.data) s = s - abs(diagonals(key - row - of.nk + of.nq)) * slope;
  if (x.bias.data) add_scaled(s, 1.f, x.bias, x.bias_width, row, key, head, batch);
  if (x.wide_bias.data) add_scaled(s, 1.f, x.wide_bias, x.bias_width, row, key, head, batch);
}
// Scores, multiplied by the scale where anything but masks follows.
template <class T, int R, int C>
TK_DEVICE void apply_terms(reg_tile<float, R, C>& s, device_terms<T> const& x, sequence const& of,
                           float slope, int row, int key, int head, int batch) {
  if (x.softcap != 0.f) s = map(softcap_of{x.softcap, x.inverse_softcap}, s);
  add_terms(s, x, of, slope, row, key, head, batch);
  keep_seen(s, x.seen, of, row, key, -inf);
}

}  // namespace tk
