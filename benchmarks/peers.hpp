// SPDX-License-Identifier: MIT
// The vendor's libraries as peers, found at run time: nothing of them is needed to build. Each
// function adds to the list the peers that take the problem, or why they don't.
#pragma once
#include <cstdint>
#include <string>

#include "benchmarks/benchmark.hpp"

namespace tk::bench {

// A shared library that may be missing; entry points are looked up by name.
class shared_library {
 public:
  shared_library(std::initializer_list<char const*> names);  // the first that opens
  explicit operator bool() const { return handle_ != nullptr; }
  // Throws std::runtime_error if the library lacks it.
  template <class F> void find(F*& function, char const* name) const {
    function = reinterpret_cast<F*>(entry(name));
  }

 private:
  void* entry(char const* name) const;
  void* handle_ = nullptr;
};

// Row-major d[batch, m, n] = act(op(a) op(b) + bias[n]).
struct gemm_operands {
  tensor const *a, *b, *bias, *d;
  std::int64_t m, n, k, batch;
  bool transpose_a, transpose_b;
  tk_bias bias_kind;
  tk_activation activation;
};
void add_cublaslt(peer_list& peers, gemm_operands const& x);

// As in tk_attention_forward_problem.
struct attention_operands {
  tensor const *q, *k, *v, *o, *lse;
  bool causal;
  float scale;
};
void add_cudnn(peer_list& peers, attention_operands const& x);

// Versions of the peers that could be opened: "cublaslt 130001", for the JSON's machine.
std::string cublaslt_version();
std::string cudnn_version();

}  // namespace tk::bench
