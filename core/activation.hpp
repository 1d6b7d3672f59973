// SPDX-License-Identifier: MIT
// Activation functions and their slopes as functors for map<F>(tile), fp32. At an infinity they are
// what they tend to; NaN stays NaN. Slopes are off by less than 2^-20, of relu and identity by
// nothing. Below 2^-126 in magnitude an exponential may be 0.
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

// x, and no more than 128 in magnitude, where what it is multiplied by has long been 0; NaN may go.
TK_DEVICE float bounded(float x) { return be::min(be::max(x, -128.f), 128.f); }
TK_DEVICE float bounded_below(float x) { return be::max(x, -128.f); }

// 1 / (1 + e^-x) and its slope, from e^-|x|, so that neither loses digits in its tails.
struct sigmoid_and_slope {
  float value, slope;
  TK_DEVICE explicit sigmoid_and_slope(float x) {
    float const tail = be::exp2(-log2_e * be::max(x, -x)), above = be::reciprocal(1.f + tail);
    value = x < 0.f ? tail * above : above;
    slope = tail * above * above;
  }
};
// e^-z^2 P(t) is erfc(z), z >= 0.
TK_DEVICE float erfc_factor(float z) {
  float const t = be::reciprocal(1.f + 0.3275911f * z);
  return t * (0.254829592f +
              t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
}

struct identity {
  TK_DEVICE float operator()(float x) const { return x; }
};
struct relu {  // NaN stays
  TK_DEVICE float operator()(float x) const { return x < 0.f ? 0.f : x; }
};
struct sigmoid_of {
  TK_DEVICE float operator()(float x) const { return sigmoid(x); }
};
struct silu {
  TK_DEVICE float operator()(float x) const { return bounded_below(x) * sigmoid(x); }
};
struct gelu_tanh {  // x/2 (1 + tanh u) = x / (1 + e^(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3)
  TK_DEVICE float operator()(float x) const {
    constexpr float linear = -2.3022081981f, cubic = 0.044715f * linear;  // -2 log2(e) sqrt(2 / pi)
    return bounded_below(x) * be::reciprocal(1.f + be::exp2(x * (cubic * x * x + linear)));
  }
};
struct gelu_erf {  // x/2 erfc(-x / sqrt 2)
  TK_DEVICE float operator()(float x) const {
    float const z = be::max(x, -x) * 0.7071067811865476f;
    float const tail = erfc_factor(z) * be::exp2(-log2_e * z * z);
    return 0.5f * bounded_below(x) * (x < 0 ? tail : 2.f - tail);
  }
};

struct identity_slope {
  TK_DEVICE float operator()(float) const { return 1.f; }
};
struct relu_slope {  // 0 at 0; NaN stays
  TK_DEVICE float operator()(float x) const { return x > 0.f ? 1.f : x < 0.f ? 0.f : x; }
};
struct sigmoid_slope {
  TK_DEVICE float operator()(float x) const { return sigmoid_and_slope(x).slope; }
};
// log(1 + e^x), and its slope is the sigmoid: relative error below 2^-20 + |x| 2^-24. With
// t = e^-|x| it is max(x, 0) + log(1 + t), and log(1 + t) = 2 atanh(t / (2 + t)), a series in at
// most 1/3.
struct softplus {
  TK_DEVICE float operator()(float x) const {
    float const t = be::exp2(-log2_e * be::max(x, -x)), s = t * be::reciprocal(2.f + t), z = s * s;
    float p = 2.f / 13;
    p = be::fma(p, z, 2.f / 11);
    p = be::fma(p, z, 2.f / 9);
    p = be::fma(p, z, 2.f / 7);
    p = be::fma(p, z, 2.f / 5);
    p = be::fma(p, z, 2.f / 3);
    p = be::fma(p, z, 2.f);
    return be::max(x, 0.f) + p * s;
  }
};
struct silu_slope {  // s + x s'
  TK_DEVICE float operator()(float x) const {
    sigmoid_and_slope const s(x);
    return s.value + bounded(x) * s.slope;
  }
};
struct gelu_tanh_slope {  // x s(v) has the slope s(v) + x v' s'(v), v = 2 u
  TK_DEVICE float operator()(float x) const {
    constexpr float linear = 1.5957691216f, cubic = 0.044715f * linear;  // 2 sqrt(2 / pi)
    sigmoid_and_slope const s(x * (cubic * x * x + linear));
    float const held = bounded(x);
    return s.value + held * (3.f * cubic * held * held + linear) * s.slope;
  }
};
struct gelu_erf_slope {  // erfc(-x / sqrt 2) / 2 + x e^(-x^2 / 2) / sqrt(2 pi)
  TK_DEVICE float operator()(float x) const {
    float const z = be::max(x, -x) * 0.7071067811865476f, bell = be::exp2(-log2_e * z * z);
    float const tail = 0.5f * erfc_factor(z) * bell;
    return (x < 0 ? tail : 1.f - tail) + 0.3989422804f * bounded(x) * bell;
  }
};

}  // namespace tk
