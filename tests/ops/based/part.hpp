// SPDX-License-Identifier: MIT
// Based's operands for parts of sequences (tests/support/sequence_parts.hpp).
#pragma once
#include "tests/ops/based/oracle.hpp"
#include "tests/support/sequence_parts.hpp"

namespace tk::test {

inline std::int64_t heads_of_unit(based_case const&) { return 1; }
inline void set_heads(based_case& x, std::int64_t heads) { x.h = heads; }

inline std::vector<pair_of_operands> inputs_of(based_inputs& few, based_inputs& all) {
  return {{&few.q, &all.q, kind::of_tokens},
          {&few.k, &all.k, kind::of_tokens},
          {&few.v, &all.v, kind::of_tokens},
          {&few.initial, &all.initial, kind::of_states},
          {&few.initial_sums, &all.initial_sums, kind::of_states}};
}
inline std::vector<pair_of_operands> own_inputs(forward_operands&, forward_operands&) { return {}; }
inline std::vector<pair_of_operands> results_of(forward_operands& few, forward_operands& all) {
  return {{&few.o, &all.o, kind::of_tokens},
          {&few.final, &all.final, kind::of_states},
          {&few.final_sums, &all.final_sums, kind::of_states}};
}

// NaN, and infinite queries, in all that a sequence is given of tokens.
template <class Operands> void spoil_sequence(Operands& x, std::int64_t s) {
  auto const p = whole_sequence(x.of, s);
  auto const spoil = [&](tensor const& of, double value) {
    auto part = tokens_of(of, x.of, p);
    for (std::int64_t r = 0; r < part.rows(); ++r)
      for (std::int64_t c = 0; c < part.cols(); ++c) set(part, r, c, value);
  };
  spoil(x.k, std::nan(""));
  spoil(x.v, std::nan(""));
  spoil(x.q, HUGE_VAL);
}

// Whether the segments of a case's sequences are tasks of their own: nothing else has workspace.
template <class Operands> bool is_cut(based_case const& c) { return workspace_of(Operands(c)) > 0; }

// Batches and packed sequences, one past a segment.
inline std::vector<based_case> company_cases() {
  std::vector<based_case> all{
      {.b = 2, .n = 130, .h = 3, .normalise = true, .states = true},
      {.b = 2, .n = 65, .h = 2, .dv = 48},
      {.h = 2, .normalise = true, .states = true, .lengths = {33, 70, 1, 17, 0, 64}},
      {.h = 2, .dv = 80, .lengths = {20, 70, 31}},
      {.dv = 16, .normalise = true, .states = true, .lengths = {40, 1030, 3}}};
  all[1].type = all[3].type = dtype::fp16;
  return all;
}

}  // namespace tk::test
