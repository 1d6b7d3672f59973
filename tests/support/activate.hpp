// SPDX-License-Identifier: MIT
// Activations and their slopes in double precision, for the oracles of tests and benchmarks. At an
// infinity they are what they tend to.
#pragma once
#include <cmath>
#include <numbers>

#include "ops/tk_base.h"

namespace tk::test {

inline double activate(tk_activation_kind kind, double x) {
  switch (kind) {
    case TK_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case TK_ACTIVATION_SIGMOID: return 1 / (1 + std::exp(-x));
    case TK_ACTIVATION_NONE: return x;
    default: break;
  }
  if (x < -1000) return 0;
  if (kind == TK_ACTIVATION_SILU) return x / (1 + std::exp(-x));
  if (kind == TK_ACTIVATION_GELU_ERF) return x / 2 * std::erfc(-x / std::numbers::sqrt2);
  return x / (1 + std::exp(-2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

inline double activation_slope(tk_activation_kind kind, double x) {
  switch (kind) {
    case TK_ACTIVATION_RELU: return x > 0 ? 1 : x <= 0 ? 0 : x;
    case TK_ACTIVATION_NONE: return 1;
    default: break;
  }
  bool const falls = kind == TK_ACTIVATION_SIGMOID;
  if (std::fabs(x) > 1000) return falls || x < 0 ? 0 : 1;
  // Of the sigmoid s, s(-v) s(v) is the slope.
  auto const s = [](double v) { return 1 / (1 + std::exp(-v)); };
  if (kind == TK_ACTIVATION_SIGMOID) return s(x) * s(-x);
  if (kind == TK_ACTIVATION_SILU) return s(x) + x * s(x) * s(-x);
  double const root = std::sqrt(2 / std::numbers::pi);
  if (kind == TK_ACTIVATION_GELU_ERF)
    return std::erfc(-x / std::numbers::sqrt2) / 2 + x * root / 2 * std::exp(-x * x / 2);
  double const v = 2 * root * (x + 0.044715 * x * x * x), dv = 2 * root * (1 + 0.134145 * x * x);
  return s(v) + x * dv * s(v) * s(-v);
}

inline char const* activation_name(tk_activation_kind kind) {
  constexpr char const* names[] = {"none", "relu", "silu", "gelu_tanh", "gelu_erf", "sigmoid"};
  return names[kind];
}

// How far from these what core/activation.hpp computes may be, u = 2^-24; rounding aside. An
// exponential below 2^-126 may be 0, which is less.
inline bool is_exact(tk_activation_kind kind) {
  return kind == TK_ACTIVATION_NONE || kind == TK_ACTIVATION_RELU;
}
inline double activation_slack(tk_activation_kind kind, double x) {
  if (is_exact(kind) || std::isnan(x)) return 0;
  return 0x1p-20 * (kind == TK_ACTIVATION_SIGMOID ? 1 : std::fmin(std::fabs(x), 128));
}
inline double slope_slack(tk_activation_kind kind) { return is_exact(kind) ? 0 : 0x1p-20; }

}  // namespace tk::test
