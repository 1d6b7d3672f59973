// SPDX-License-Identifier: MIT
// Hedgehog's operands for parts of sequences (tests/support/sequence_parts.hpp), of as many queries
// as keys.
#pragma once
#include "tests/ops/hedgehog/oracle.hpp"
#include "tests/support/sequence_parts.hpp"

namespace tk::test {

inline std::int64_t heads_of_unit(hedgehog_case const&) { return 1; }
inline void set_heads(hedgehog_case& x, std::int64_t heads) { x.h = heads; }

inline std::vector<pair_of_operands> inputs_of(hedgehog_tensors& few, hedgehog_tensors& all) {
  return {{&few.q, &all.q, kind::of_tokens},
          {&few.k, &all.k, kind::of_tokens},
          {&few.v, &all.v, kind::of_tokens},
          {&few.map_q, &all.map_q, kind::of_heads},
          {&few.map_k, &all.map_k, kind::of_heads},
          {&few.alpha, &all.alpha, kind::of_heads},
          {&few.beta, &all.beta, kind::of_heads},
          {&few.initial_kv, &all.initial_kv, kind::of_states},
          {&few.initial_k, &all.initial_k, kind::of_states}};
}
inline std::vector<pair_of_operands> own_inputs(hedgehog_operands&, hedgehog_operands&) {
  return {};
}
inline std::vector<pair_of_operands> results_of(hedgehog_operands& few, hedgehog_operands& all) {
  return {{&few.o, &all.o, kind::of_tokens},
          {&few.final_kv, &all.final_kv, kind::of_states},
          {&few.final_k, &all.final_k, kind::of_states}};
}

// NaN in all that a sequence is given of tokens.
inline void spoil_sequence(hedgehog_tensors& x, std::int64_t s) {
  auto const p = whole_sequence(x.of, s);
  for (auto const* of : {&x.q, &x.k, &x.v}) {
    auto part = tokens_of(*of, x.of, p);
    for (std::int64_t r = 0; r < part.rows(); ++r)
      for (std::int64_t c = 0; c < part.cols(); ++c) set(part, r, c, std::nan(""));
  }
}

inline bool is_cut(hedgehog_case const& c) { return workspace_of(hedgehog_operands(c)) > 0; }

}  // namespace tk::test
