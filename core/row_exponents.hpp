// SPDX-License-Identifier: MIT
// Exponentials of the numbers of rows below a maximum, exp2(factor f - factor max f), one operation
// each before they are taken: exp2(f * base.factor - base.shift). shift is rounded and the product,
// where it is fused, is not, so that all exponentials of a row have one factor in common, which
// their sum has, too. From 2^31 on that factor might be anything; but there numbers that differ do
// by so much that none counts beside the largest, and products with a power of two are exact.
#pragma once
#include <bit>

#include "core/reduce.hpp"

namespace tk {

template <int R> struct exponent_base {
  reg_col<float, R> factor, shift;
};

// Below the largest f of each row; factor > 0. Of -inf alone nothing is left.
template <int R>
TK_DEVICE exponent_base<R> exponents_below(reg_col<float, R> const& max, float factor) {
  constexpr float most = 0x1p31f;
  // Of a factor that they know to be 1 compilers would fuse the product that f may be with the
  // difference, and not where they compute max f: between large numbers lies more than a rounding.
  if constexpr (be::worker_lanes == 1) {
    float volatile const unknown = factor;
    factor = unknown;
  }
  exponent_base<R> base;
  TK_UNROLL
  for (int i = 0; i < be::column_map<R>::count; ++i) {
    float const x = max.e[i] == -inf ? 0.f : max.e[i];
    bool const large = !(x * factor < most && x * factor > -most);
    float const power = std::bit_cast<float>(std::bit_cast<std::uint32_t>(factor) & 0x7f800000u);
    base.factor.e[i] = large ? power : factor;
    base.shift.e[i] = x * base.factor.e[i];
  }
  return base;
}

// A sum of exponentials of numbers that come one after another. They are taken below a reference,
// the largest number some time ago: it moves where numbers are so far above it that exponentials
// would become large, which they seldom do.
template <int R> class running_exponents {
  using column = reg_col<float, R>;

 public:
  TK_DEVICE explicit running_exponents(float factor)
      : factor_(factor), room_(8.f * be::reciprocal(factor)) {}
  // Numbers follow of which these are the largest.
  TK_DEVICE void expect(column const& largest) {
    TK_UNROLL
    for (int i = 0; i < be::column_map<R>::count; ++i) {
      top.e[i] = larger{}(top.e[i], largest.e[i]);
      if (!(largest.e[i] <= limit_.e[i])) move(i);
    }
  }
  template <class X> TK_DEVICE auto of(X&& f) const {
    return exp2(static_cast<X&&>(f) * base.factor - base.shift);
  }
  // The sum below `max`, the largest number of a row.
  TK_DEVICE column sum_below(column const& max) const {
    column x;
    TK_UNROLL
    for (int i = 0; i < be::column_map<R>::count; ++i)
      x.e[i] = sum.e[i] * between(reference_.e[i], max.e[i]);
    return x;
  }

  column sum = 0.f, top = -inf;
  exponent_base<R> base{1.f, 0.f};

 private:
  TK_DEVICE float between(float from, float to) const {
    return be::exp2((from - (to == -inf ? 0.f : to)) * factor_);
  }
  TK_DEVICE void move(int i) {
    float const to = top.e[i];
    sum.e[i] *= between(reference_.e[i], to);
    reference_.e[i] = to;
    auto const next = exponents_below(reference_, factor_);
    base.factor.e[i] = next.factor.e[i], base.shift.e[i] = next.shift.e[i];
    limit_.e[i] = to + room_;  // `to` where it is large
  }
  float factor_, room_;
  column reference_ = -inf, limit_ = -inf;
};

}  // namespace tk
