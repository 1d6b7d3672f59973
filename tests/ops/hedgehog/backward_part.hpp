// SPDX-License-Identifier: MIT
// The operands of Hedgehog's backward for parts of sequences (tests/support/sequence_parts.hpp), of
// as many queries as keys.
#pragma once
#include "tests/ops/hedgehog/backward_oracle.hpp"
#include "tests/ops/hedgehog/part.hpp"

namespace tk::test {

inline std::vector<pair_of_operands> own_inputs(hedgehog_gradients& few, hedgehog_gradients& all) {
  std::vector<pair_of_operands> own{{&few.o, &all.o, kind::of_tokens},
                                    {&few.dout, &all.dout, kind::of_tokens},
                                    {&few.dfinal_kv, &all.dfinal_kv, kind::of_states},
                                    {&few.dfinal_k, &all.dfinal_k, kind::of_states}};
  // That of a batch lies as states do.
  if (!packed(all.of)) own.push_back({&few.normaliser, &all.normaliser, kind::of_states});
  return own;
}
// Maps and factors have sums over all sequences, which no part has.
inline std::vector<pair_of_operands> results_of(hedgehog_gradients& few, hedgehog_gradients& all) {
  return {{&few.dq, &all.dq, kind::of_tokens},
          {&few.dk, &all.dk, kind::of_tokens},
          {&few.dv, &all.dv, kind::of_tokens},
          {&few.dinitial_kv, &all.dinitial_kv, kind::of_states},
          {&few.dinitial_k, &all.dinitial_k, kind::of_states}};
}

}  // namespace tk::test
