// SPDX-License-Identifier: MIT
// The checks that Hedgehog's ops have in common.
#pragma once
#include "ops/hedgehog/plan.hpp"
#include "ops/linear_attention/checks.hpp"

namespace tk::api {

// Of what forward and backward are both given, and where the views of it go.
struct hedgehog_views {
  view &q, &k, &v, &map_q, &map_k, &alpha, &beta, &initial_kv, &initial_k, &normaliser, &starts,
      &key_starts, &lengths;
};
struct hedgehog_given {
  DLTensor const *q, *k, *v, *map_q, *map_k, *alpha, *beta, *initial_kv, *initial_k, *normaliser,
      *starts, *key_starts, *lengths;
  float scale;
};
template <class Given> hedgehog_given inputs_of(Given const& x) {
  return {x.q,          x.k,         x.v,          x.map_q,  x.map_k,      x.alpha,   x.beta,
          x.initial_kv, x.initial_k, x.normaliser, x.starts, x.key_starts, x.lengths, x.scale};
}
// `needs_normaliser`: it is an input.
void read_inputs(hedgehog_inputs& to, hedgehog_views const& views, hedgehog_given const& given,
                 bool needs_normaliser, reading const& how);

// Tokens like q, or like k.
constexpr signatures tokens_are(char const* name, bool of_queries) {
  return of_queries ? heads_are(name, "nq", "total_q", "h", "d")
                    : heads_are(name, "nk", "total_k", "h", "d");
}
constexpr signature sums_are(char const* name) { return {name, fp32_only, 3, 3, {"b", "h", "d"}}; }

// A state and its sums, both or none; of as many sequences as the problem has.
struct state_pair {
  signature const &kv, &k;
  DLTensor const *given_kv, *given_k;
};
void read_states(state_tensor& kv, view& kv_view, sum_tensor& k, view& k_view, state_pair const& of,
                 hedgehog_inputs const& problem, view const& q, view const& v, reading const& how);

// Each output in memory of its own, but `in_place`, an output and an input, may be one.
void expect_outputs_apart(std::initializer_list<view const*> outputs,
                          std::initializer_list<view const*> inputs,
                          std::initializer_list<std::pair<view const*, view const*>> in_place);

}  // namespace tk::api
