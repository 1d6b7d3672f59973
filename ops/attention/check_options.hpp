// SPDX-License-Identifier: MIT
// The checks that attention's ops have in common: of masks and heads, and of their options
// (attention_options.h).
#pragma once
#include "ops/api/check.hpp"
#include "ops/attention/attention_options.h"
#include "ops/attention/problem.hpp"

namespace tk::api {

// The options that a problem points to, as far as this library knows them; all off where it has
// none.
tk_attention_options read_options(tk_attention_options const* given);

inline bool is_packed(tk_attention_options const& given) {
  return given.q_starts || given.k_starts;
}

inline constexpr char const* mask_names[] = {"TK_MASK_NONE", "TK_MASK_CAUSAL"};

// What holds for all operands [b, n, h, d], or [n, h, d] of packed sequences; `n` is the axis of
// rows, 1 or 0.
heads as_heads(view const& x, bool packed);
void expect_head_size(view const& x, int n);
void expect_groups(view const& q, view const& k, int n);

bias_tensor as_bias(view const& x);

struct checked_options {
  static constexpr int most = 6;
  attention_terms terms;
  mask_kind mask;
  std::array<view, most> tensors;  // what the options' launch reads
  view const& bias() const { return tensors[1]; }
  view const& sinks() const { return tensors[2]; }
};
checked_options check_options(tk_attention_options const& given, mask_kind mask, heads const& q,
                              heads const& k, reading const& how);

}  // namespace tk::api
