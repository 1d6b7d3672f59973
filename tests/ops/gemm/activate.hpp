// SPDX-License-Identifier: MIT
// The activations of gemm in double precision, for the oracles of tests and benchmarks.
#pragma once
#include <cmath>
#include <numbers>

#include "ops/gemm/gemm.h"

namespace tk::test {

inline double activate(tk_activation kind, double x) {
  switch (kind) {
    case TK_ACTIVATION_RELU: return x < 0 ? 0 : x;
    case TK_ACTIVATION_SILU: return x / (1 + std::exp(-x));
    case TK_ACTIVATION_GELU_TANH:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case TK_ACTIVATION_GELU_ERF: return x / 2 * std::erfc(-x / std::numbers::sqrt2);
    default: return x;
  }
}

}  // namespace tk::test
