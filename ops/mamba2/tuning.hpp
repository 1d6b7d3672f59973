// SPDX-License-Identifier: MIT
// What Mamba-2 lets a chip choose; the choices are in backends/<chip>/tune/mamba2.hpp:
// tune_mamba2(d), in linear attention's terms (ops/linear_attention/tuning.hpp), and
// tune_mamba2_gradients(d), each for up to d of s.
#pragma once
#include "ops/linear_attention/tuning.hpp"

namespace tk {

// P columns of x at a time, `slots` of them in shared memory. `together`: one block's workers make
// dB, dC and dx; else a launch makes the first two, and another one dx and what pairs of tokens
// have of one another.
struct mamba2_gradients_tuning {
  int P, slots;
  bool together;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / mamba2.hpp))
#include TK_CHIP(tune / mamba2.hpp)
#else
#include TK_BACKEND(tune/mamba2.hpp)
#endif

namespace tk {

// The family of scans that ops/linear_attention/chunk_scan.hpp calls weighing: terms are dt' x B^T.
struct ssm_scans {
  static constexpr bool weighs = true, scales = false, keeps = true;
  static constexpr linear_attention_tuning tune(int d) { return be::tune_mamba2(d); }
};

}  // namespace tk
