// SPDX-License-Identifier: MIT
// The check of attention's options, for each of its ops (attention_options.h).
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

// What holds for all operands [b, n, h, d], or [n, h, d] of packed sequences.
heads as_heads(view const& x, bool packed);

struct checked_options {
  static constexpr int most = 6;
  attention_terms terms;
  mask_kind mask;
  std::array<view, most> tensors;  // what the options' launch reads
};
checked_options check_options(tk_attention_options const& given, mask_kind mask, heads const& q,
                              heads const& k, reading const& how);

}  // namespace tk::api
