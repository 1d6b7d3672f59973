// SPDX-License-Identifier: MIT
// cuDNN as a peer of suite attention, found at run time.
#pragma once
#include "benchmarks/benchmark.hpp"

namespace tk::bench {

// As in tk_attention_forward_problem.
struct attention_operands {
  tensor const *q, *k, *v, *o, *lse;
  bool causal;
  float scale;
};

// Adds it to the list, or the reason why it does not take the problem.
void add_cudnn(peer_list& peers, attention_operands const& x);

}  // namespace tk::bench
