// SPDX-License-Identifier: MIT
// cuDNN as a peer of the suites of attention, found at run time.
#pragma once
#include <vector>

#include "benchmarks/benchmark.hpp"

namespace tk::bench {

// As in tk_attention_forward_problem. q, k, v and o are [b, n, h, d], or where `lengths` are given
// [total, h, d], packed sequences of so many queries and keys each.
struct forward_operands {
  tensor const *q, *k, *v, *o;
  tensor const* lse;  // [b, hq, nq]; packed: [total, hq], another order than TK's
  bool causal;
  float scale;
  std::int64_t window_left = -1;  // -1: none
  float softcap = 0;
  tensor const* alibi = nullptr;  // [hq]
  std::vector<std::int64_t> lengths = {};
};

// As in tk_attention_backward_problem.
struct backward_operands {
  tensor const *q, *k, *v, *o, *lse, *dout, *dq, *dk, *dv;
  bool causal;
  float scale;
};

// Adds cuDNN to the list, or the reason why it does not take the problem. The backward is there
// twice: adding up dq in whatever order, and "cudnn deterministic".
void add_cudnn(peer_list& peers, forward_operands const& x);
void add_cudnn(peer_list& peers, backward_operands const& x);

}  // namespace tk::bench
