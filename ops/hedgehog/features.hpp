// SPDX-License-Identifier: MIT
// The features of Hedgehog on the device, and their gradient:
//   e = softmax(u), or softmax(-u), u = x W;   phi = max(e, 1e-6);   du = +-e (d - sum of e d),
// where d is the gradient of e: that of phi where phi is e, and 0 elsewhere.
#pragma once
#include "core/activation.hpp"
#include "core/product.hpp"
#include "core/reduce.hpp"
#include "core/row_totals.hpp"
#include "core/vector.hpp"
#include "ops/hedgehog/plan.hpp"

namespace tk {

// e = softmax(u) by rows, or softmax(-u).
template <int R, int C>
TK_DEVICE void softmax_of(reg_tile<float, R, C>& e, reg_tile<float, R, C> const& u, bool negative) {
  if (negative) {
    reg_col<float, R> const bottom = row_min(u) * log2_e;
    e = exp2(bottom - u * log2_e);
  } else {
    reg_col<float, R> const top = row_max(u) * log2_e;
    e = exp2(u * log2_e - top);
  }
  reg_col<float, R> const inverse = reciprocal(row_sum(e));
  e = e * inverse;
}
// Either half of phi(x), where u = x W: use(half, features). One after the other, by the same code:
// both at once would want more registers than there are.
template <int C, int F, class Use>
TK_DEVICE void for_features(reg_tile<float, C, F> const& u, Use use) {
  reg_col<float, C> most = row_max(u) * log2_e, least = row_min(u) * log2_e;
  float by = log2_e;
  TK_ROLL
  for (int half = 0; half < 2; ++half) {
    reg_tile<float, C, F> e;
    e = exp2(u * by - most);
    reg_col<float, C> const inverse = reciprocal(row_sum(e));
    e = max(e * inverse, least_feature);
    use(half, e);
    by = -by;
    most = least * -1.f;
  }
}
// phi(q) to shared memory; returns its product with z.
template <class T, int C, int F>
TK_DEVICE reg_col<float, C> put_queries(shared_tile<T, C, 2 * F>& phi,
                                        shared_vec<float, F> const (&z)[2],
                                        reg_tile<float, C, F> const& u) {
  reg_col<float, C> sum = 0.f;
  for_features(u, [&](int half, reg_tile<float, C, F> const& e) {
    sum = sum + row_sum_share(e * as_row(z[half]));
    store(columns<F>(phi, half), cast<T>(e));
  });
  return total(sum);
}
// phi(k) to shared memory; what warps leave of the sums of its columns, and then, after a sync,
// use(half, column, sum).
template <class Worker, class T, int C, int F>
TK_DEVICE void put_keys(Worker const& w, shared_tile<T, C, 2 * F>& phi, col_shares<F> (&shares)[2],
                        reg_tile<float, C, F> const& u) {
  for_features(u, [&](int half, reg_tile<float, C, F> const& e) {
    store(columns<F>(phi, half), cast<T>(e));
    col_sum_shares(w, shares[half], e);
  });
}
template <int F, class Use> TK_DEVICE void for_key_sums(col_shares<F> const (&shares)[2], Use use) {
  TK_UNROLL
  for (int half = 0; half < 2; ++half)
    for_col_sums(shares[half], [&](int column, float sum) { use(half, column, sum); });
}

struct kept_gradient {
  TK_DEVICE float operator()(float e, float d) const { return e > least_feature ? d : 0.f; }
};
// u becomes the gradient of u, where d is that of phi.
template <int R, int C>
TK_DEVICE void gradient_of_softmax(reg_tile<float, R, C>& u, reg_tile<float, R, C> const& e,
                                   reg_tile<float, R, C>& d, bool negative) {
  d = combine<kept_gradient>(e, d);
  reg_col<float, R> const sum = row_sum(e * d);
  u = e * (d - sum);
  if (negative) u = u * -1.f;
}

// The rows of a slot that is given back.
template <class Context, class T, int R, int C>
TK_DEVICE void take_rows(Context& c, reg_tile<T, R, C>& x) {
  load(x, c.in.take().x);
  release_loaded(c.w, c.in);
}
// u = x W, where x and W follow one another in the ring.
template <class Context, class T, int R, int C, int F>
TK_DEVICE void project(Context& c, reg_tile<float, R, F>& u, reg_tile<T, R, C>& x) {
  take_rows(c, x);
  mm_ab(u, x, c.in.take().map);
  wait<0>(u, x);
  c.in.release();
}

}  // namespace tk
