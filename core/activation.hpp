// SPDX-License-Identifier: MIT
// Activation functions as functors for map<F>(tile), fp32.
// gelu_erf takes erf from Abramowitz and Stegun 7.1.26, |error| < 1.5e-7, in the form that keeps
// 1 + erf exact in the negative tail.
#pragma once
#include "backends/backend.hpp"

namespace tk {

inline constexpr float log2_e = 1.4426950408889634f, ln_2 = 0.6931471805599453f;

// tanh, relative error below 2^-21: an odd polynomial, interpolated at Chebyshev's points (2e-8),
// up to 5/8, and 1 - 2 / (1 + e^(2 |x|)) beyond.
TK_DEVICE float tanh(float x) {
  float const size = be::max(x, -x), z = x * x;
  float p = -6.096714176e-03f;
  p = be::fma(p, z, 2.099717967e-02f);
  p = be::fma(p, z, -5.385090783e-02f);
  p = be::fma(p, z, 1.333276927e-01f);
  p = be::fma(p, z, -3.333332837e-01f);
  float const near = be::fma(p * z, x, x);
  float const far = 1.f - 2.f * be::reciprocal(1.f + be::exp2(2.f * log2_e * size));
  return size < 0.625f ? near : x < 0.f ? -far : far;
}
TK_DEVICE float sigmoid(float x) { return be::reciprocal(1.f + be::exp2(-log2_e * x)); }

struct relu {  // NaN stays
  TK_DEVICE float operator()(float x) const { return x < 0.f ? 0.f : x; }
};
struct silu {
  TK_DEVICE float operator()(float x) const { return x * sigmoid(x); }
};
struct gelu_tanh {  // x/2 (1 + tanh u) = x / (1 + e^(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3)
  TK_DEVICE float operator()(float x) const {
    constexpr float linear = -2.3022081981f, cubic = 0.044715f * linear;  // -2 log2(e) sqrt(2 / pi)
    return x * be::reciprocal(1.f + be::exp2(x * (cubic * x * x + linear)));
  }
};
struct gelu_erf {  // x/2 erfc(-x / sqrt 2)
  TK_DEVICE float operator()(float x) const {
    float const z = be::max(x, -x) * 0.7071067811865476f;
    float const t = be::reciprocal(1.f + 0.3275911f * z);
    float const poly =
        t * (0.254829592f +
             t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
    float const tail = poly * be::exp2(-log2_e * z * z);  // erfc(z)
    return 0.5f * x * (x < 0 ? tail : 2.f - tail);
  }
};

}  // namespace tk
