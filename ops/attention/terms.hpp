// SPDX-License-Identifier: MIT
// What attention's options do to a tile of scores, on the device (attention_options.h). They are
// the same for all rows of a launch: branches round passes over the tile, none inside.
#pragma once
#include "core/activation.hpp"
#include "core/random.hpp"
#include "core/reduce.hpp"
#include "ops/attention/problem.hpp"

namespace tk {

struct softcap_of {
  float cap, inverse;
  TK_DEVICE float operator()(float x) const { return cap * tanh(x * inverse); }
};

// Rows and keys of one sequence: where they begin in q and k, and how many there are.
struct sequence {
  int q_start, k_start, nq, nk;
};

template <class T> struct device_terms {
  float softcap, inverse_softcap;  // 0: none
  by_head alibi, sinks;
  tensor<T const> bias;  // of one of the two types, or null
  tensor<float const> wide_bias;
  int bias_width;
  int left, right;                          // what row i sees from and up to, from i + nk - nq on
  std::int32_t const *q_starts, *k_starts;  // null where nothing is packed
  int sequences, total_q, total_k, most_q, most_k;
  int dropout;  // of 256
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
    auto const* const state = random_state;
    return random_plane_of(state ? state[0] : seed, state ? state[1] : offset,
                           static_cast<std::uint32_t>(batch * heads + head));
  }

  // ---- packed sequences
  static TK_BOTH int within(std::int32_t start, int total) {
    return start < 0 ? 0 : start < total ? start : total;
  }
  TK_BOTH sequence at(int s) const {
    int const q = within(q_starts[s], total_q), k = within(k_starts[s], total_k);
    int const nq = within(q_starts[s + 1], total_q) - q, nk = within(k_starts[s + 1], total_k) - k;
    return {q, k, nq < most_q ? nq : most_q, nk < most_k ? nk : most_k};
  }
  // Blocks of `height` rows are counted through all sequences, of which s begins at
  // first_block(s): never more than there is room for, because a sequence that does not begin or
  // end on a multiple of the height has one place more.
  TK_BOTH int first_block(int s, int height) const {
    return within(q_starts[s], total_q) / height + s;
  }
  TK_BOTH int blocks(int height) const { return total_q / height + sequences; }
  // The sequence in which a block may be.
  TK_BOTH int sequence_of(int block, int height) const {
    int first = 0, last = sequences - 1;
    while (first < last) {
      int const middle = first + (last - first + 1) / 2;
      if (first_block(middle, height) <= block) first = middle;
      else last = middle - 1;
    }
    return first;
  }
};

// A tile of R rows from `row` and C keys from `key` on: scores, multiplied by the scale where
// anything but masks follows.
template <class T, int R, int C>
TK_DEVICE void apply_terms(reg_tile<float, R, C>& s, device_terms<T> const& x, sequence const& of,
                           float slope, int row, int key, int head, int batch) {
  int const diagonal = row + of.nk - of.nq - key;  // the column opposite the first row
  if (x.softcap != 0.f) s = map(softcap_of{x.softcap, x.inverse_softcap}, s);
  if (x.alibi.data) s = s - abs(diagonals(-diagonal)) * slope;
  if (x.bias.data) add_scaled(s, 1.f, x.bias, x.bias_width, row, key, head, batch);
  if (x.wide_bias.data) add_scaled(s, 1.f, x.wide_bias, x.bias_width, row, key, head, batch);
  if (key + C > of.nk) keep_cols(s, of.nk - key, -inf);
  if (diagonal + x.right < C - 1) keep_lower(s, diagonal + x.right, -inf);
  if (R - 1 + diagonal - x.left > 0) keep_upper(s, x.left - diagonal, -inf);
}

// What rows [row, row + R) of a sequence may see of its keys: from the first up to the last.
struct key_range {
  int first, last;
};
template <class T>
TK_BOTH key_range keys_seen(device_terms<T> const& x, sequence const& of, int row, int rows) {
  int const opposite = row + of.nk - of.nq, end = row + rows < of.nq ? row + rows : of.nq;
  int const first = opposite - x.left, last = end + of.nk - of.nq + x.right;
  return {first < 0 ? 0 : first, last < of.nk ? last : of.nk};
}

}  // namespace tk
