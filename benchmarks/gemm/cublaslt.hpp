// SPDX-License-Identifier: MIT
// cuBLASLt as a peer of suite gemm, found at run time.
#pragma once
#include <cstdint>

#include "benchmarks/benchmark.hpp"
#include "ops/gemm/gemm.h"

namespace tk::bench {

// Row-major d[batch, m, n] = act(op(a) op(b) + bias[n]).
struct gemm_operands {
  tensor const *a, *b, *bias, *d;
  std::int64_t m, n, k, batch;
  bool transpose_a, transpose_b;
  tk_bias bias_kind;
  tk_activation_kind activation;
};

// Adds it to the list, or the reason why it does not take the problem.
void add_cublaslt(peer_list& peers, gemm_operands const& x);

}  // namespace tk::bench
