// SPDX-License-Identifier: MIT
// As linear attention.
#pragma once
#include "ops/linear_attention/tuning.hpp"

namespace tk::be {

constexpr linear_attention_tuning tune_mamba2(int d) { return tune_linear_attention(d); }

}  // namespace tk::be
