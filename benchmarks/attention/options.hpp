// SPDX-License-Identifier: MIT
// What a case of attention asks for: its sequences, and its options by the words lens, left,
// softcap, alibi and dropout.
#pragma once
#include "benchmarks/attention/oracle.hpp"
#include "benchmarks/cases.hpp"
#include "ops/attention/attention_options.h"

namespace tk::bench {

bool is_packed(bench_case const& x);              // lens stands in place of b and n
forward_problem problem_of(bench_case const& x);  // scale: 1 / sqrt(d)

// The options of a problem, for the C interface; points into itself.
class case_options {
 public:
  case_options(forward_problem const& x, bool packed);
  case_options(case_options const&) = delete;
  tk_attention_options const* get() const { return any_ ? &options_ : nullptr; }
  tensor const* alibi() const { return alibi_ ? &alibi_ : nullptr; }  // [hq]

 private:
  void bind_sequences(std::vector<std::int64_t> const& lengths);

  bool any_ = false;
  tensor starts_, alibi_;
  DLTensor starts_dl_{}, alibi_dl_{};
  tk_attention_options options_{};
};

}  // namespace tk::bench
