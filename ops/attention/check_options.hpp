// SPDX-License-Identifier: MIT
// The checks that attention's ops have in common: of masks and heads, and of their options
// (attention_options.h).
#pragma once
#include "ops/api/heads.hpp"
#include "ops/attention/attention_options.h"
#include "ops/attention/problem.hpp"

namespace tk::api {

// The options that a problem points to, as far as this library knows them; all off where it has
// none.
tk_attention_options read_options(tk_attention_options const* given);

inline bool is_packed(tk_attention_options const& given) {
  return given.q_starts || given.k_starts;
}

inline constexpr auto q_is = heads_are("q", "nq", "total_q", "hq", "d"),
                      k_is = heads_are("k", "nk", "total_k", "hk", "d"),
                      v_is = heads_are("v", "nk", "total_k", "hk", "dv"),
                      o_is = heads_are("o", "nq", "total_q", "hq", "dv");
inline constexpr signatures lse_is{
    {{"lse", fp32_only, 3, 3, {"b", "hq", "nq"}}, {"lse", fp32_only, 2, 2, {"hq", "total_q"}}}};

// q, k, v and o are of one type, and of sizes that fit; an lse's fit q; `n` is the axis of rows, 1,
// or 0 of packed sequences.
void expect_shapes(view const& q, view const& k, view const& v, view const& o, int n);
void expect_lse(view const& lse, view const& q, int n);

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
