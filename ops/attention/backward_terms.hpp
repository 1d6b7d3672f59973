// SPDX-License-Identifier: MIT
// attention backward with options (attention_options.h): where a task lies, which blocks meet, and
// the way from products to p and ds.
//   s = scale q k; t = softcap tanh(s / softcap); score = t - alibi |a - j| + bias
//   p = exp(score - lse), 0 where a row does not see a key; z = 0 where dropped, else 1 / kept
//   dv = (z p)^T dout,    ds = p (z dp - delta) (1 - (t / softcap)^2)
// The last factor is applied before p is known, so that no third tile of scores is needed.
#pragma once
#include "ops/attention/backward_plan.hpp"
#include "ops/attention/terms.hpp"

namespace tk {

// The sequence of a task, its number (of a batch, or of packed sequences), and where its blocks of
// queries begin in the workspace.
struct backward_place {
  sequence of;
  int batch, first_block;
};

template <class T> struct backward_options {
  device_terms<T> terms;
  float prescale;  // 1, or what scores are multiplied by before all else
};

// Of a batch, or of a packed sequence.
template <class Cut, class T>
TK_BOTH backward_place place_of(attention_backward_sizes const& x, device_terms<T> const& terms,
                                int batch) {
  if (!terms.packed()) return {{0, 0, x.nq, x.nk}, batch, 0};
  return {terms.at(batch), batch, terms.q.first_block(batch, Cut::queries)};
}

// The blocks of keys that a block of queries sees; the blocks of queries that see a block of keys.
// Each pair of blocks is in both, or in none: turns of dq depend on it.
template <class Cut>
TK_BOTH range key_blocks_seen(key_window const& seen, sequence const& of, int query_block) {
  int const row = query_block * Cut::queries;
  if (row >= of.nq) return {0, 0};
  return blocks_of(seen.keys_seen(of, row, Cut::queries), Cut::keys);
}
template <class Cut>
TK_BOTH range query_blocks_seeing(key_window const& seen, sequence const& of, int key_block) {
  int const key = key_block * Cut::keys;
  if (key >= of.nk) return {0, 0};
  return blocks_of(seen.rows_seeing(of, key, Cut::keys), Cut::queries);
}

struct softcap_slope_of {
  float inverse;
  TK_DEVICE float operator()(float t) const { return 1.f - t * inverse * (t * inverse); }
};

// The terms of scores, of R keys from `key` and C rows from `row` on, without the softcap.
template <class T, int R, int C>
TK_DEVICE void add_terms_transposed(reg_tile<float, R, C>& s, device_terms<T> const& x,
                                    sequence const& of, int row, int key, int head, int batch) {
  if (x.alibi.data) s = s - abs(diagonals(row + of.nk - of.nq - key)) * x.slope(batch, head);
  if (x.bias.data) add_scaled_transposed(s, 1.f, x.bias, row, key, head, batch);
  if (x.wide_bias.data) add_scaled_transposed(s, 1.f, x.wide_bias, row, key, head, batch);
}
template <int R, int C>
TK_DEVICE void keep_seen_transposed(reg_tile<float, R, C>& x, key_window const& seen,
                                    sequence const& of, int row, int key, float fill) {
  int const diagonal = row + of.nk - of.nq - key;  // the key opposite the first row
  if (key + R > of.nk) keep_rows(x, of.nk - key, fill);
  if (diagonal + seen.right < R - 1) keep_upper(x, diagonal + seen.right, fill);
  if (C - 1 + diagonal - seen.left > 0) keep_lower(x, seen.left - diagonal, fill);
}

// A tile of a query head: keys from `key` and rows from `row` on.
struct backward_tile {
  int key, row, head, heads;
};
// Rows are keys: the product s becomes p, with dropout, and dp becomes ds.
template <class T, int R, int C>
TK_DEVICE void weigh_with_options(reg_tile<float, R, C>& s, reg_tile<float, R, C>& dp,
                                  backward_options<T> const& with, backward_place const& at,
                                  backward_tile const& tile, float scale_log2, row_of<float, C> lse,
                                  row_of<float, C> delta) {
  auto const& x = with.terms;
  auto const below = static_cast<unsigned>(x.dropout);
  random_mask<R, C, true> kept;
  if (below) {
    draw(kept, x.plane(at.batch, tile.head, tile.heads), below, tile.row, tile.key);
    keep(dp, kept);
  }
  dp = dp - delta;
  if (with.prescale != 1.f) s = s * with.prescale;
  if (x.softcap != 0.f) {
    s = map(softcap_of{x.softcap, x.inverse_softcap}, s);
    dp = dp * map(softcap_slope_of{x.inverse_softcap}, s);
  }
  add_terms_transposed(s, x, at.of, tile.row, tile.key, tile.head, at.batch);
  // What a bias has in rows that are none may be anything.
  if (tile.row + C > at.of.nq) keep_cols(s, at.of.nq - tile.row, 0.f);
  s = exp2(s * scale_log2 - lse);
  keep_seen_transposed(s, x.seen, at.of, tile.row, tile.key, 0.f);
  dp = s * dp;
  if (below) keep(s, kept);
}
// Columns are keys: dp becomes ds, or p (z dp - delta) without the slope of the softcap; the
// product s is used up.
template <bool Slope, class T, int R, int C>
TK_DEVICE void weigh_rows_with_options(reg_tile<float, R, C>& s, reg_tile<float, R, C>& dp,
                                       backward_options<T> const& with, backward_place const& at,
                                       backward_tile const& tile, float slope, float scale_log2,
                                       reg_col<float, R> const& lse,
                                       reg_col<float, R> const& delta) {
  auto const& x = with.terms;
  if (auto const below = static_cast<unsigned>(x.dropout))
    keep_random(dp, x.plane(at.batch, tile.head, tile.heads), below, tile.row, tile.key);
  dp = dp - delta;
  if (with.prescale != 1.f) s = s * with.prescale;
  if (x.softcap != 0.f) {
    s = map(softcap_of{x.softcap, x.inverse_softcap}, s);
    if constexpr (Slope) dp = dp * map(softcap_slope_of{x.inverse_softcap}, s);
  }
  add_terms(s, x, at.of, slope, tile.row, tile.key, tile.head, at.batch);
  if (tile.row + R > at.of.nq) keep_rows(s, at.of.nq - tile.row, 0.f);
  dp = exp2(s * scale_log2 - lse) * dp;
  keep_seen(dp, x.seen, at.of, tile.row, tile.key, 0.f);
}

}  // namespace tk
