// SPDX-License-Identifier: MIT
// The peers of suite gemm, found at run time: cuBLASLt on a card, OpenBLAS on the host.
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

// Each adds itself to the list, or the reason why it does not take the problem.
void add_cublaslt(peer_list& peers, gemm_operands const& x);
void add_openblas(peer_list& peers, gemm_operands const& x);

}  // namespace tk::bench
