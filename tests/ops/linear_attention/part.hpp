// SPDX-License-Identifier: MIT
// Linear attention's operands for parts of sequences (tests/support/sequence_parts.hpp).
#pragma once
#include "tests/ops/linear_attention/oracle.hpp"
#include "tests/support/sequence_parts.hpp"

namespace tk::test {

inline std::int64_t heads_of_unit(scan_case const&) { return 1; }
inline void set_heads(scan_case& x, std::int64_t heads) { x.h = heads; }

inline std::vector<pair_of_operands> inputs_of(scan_inputs& few, scan_inputs& all) {
  return {
      {&few.q, &all.q, kind::of_tokens},        {&few.k, &all.k, kind::of_tokens},
      {&few.v, &all.v, kind::of_tokens},        {&few.log_decay, &all.log_decay, kind::of_tokens},
      {&few.decay, &all.decay, kind::of_heads}, {&few.initial, &all.initial, kind::of_states}};
}
inline std::vector<pair_of_operands> own_inputs(forward_operands&, forward_operands&) { return {}; }
inline std::vector<pair_of_operands> own_inputs(backward_operands& few, backward_operands& all) {
  return {{&few.dout, &all.dout, kind::of_tokens}, {&few.dfinal, &all.dfinal, kind::of_states}};
}
// A head's one decay gets a sum over all sequences, which no part has.
inline std::vector<pair_of_operands> results_of(forward_operands& few, forward_operands& all) {
  return {{&few.o, &all.o, kind::of_tokens}, {&few.final, &all.final, kind::of_states}};
}
inline std::vector<pair_of_operands> results_of(backward_operands& few, backward_operands& all) {
  return {{&few.dq, &all.dq, kind::of_tokens},
          {&few.dk, &all.dk, kind::of_tokens},
          {&few.dv, &all.dv, kind::of_tokens},
          {&few.dlog_decay, &all.dlog_decay, kind::of_tokens},
          {&few.dinitial, &all.dinitial, kind::of_states}};
}

// NaN, and infinite queries, in all that a sequence is given of tokens.
template <class Operands> void spoil_sequence(Operands& x, std::int64_t s) {
  auto const p = whole_sequence(x.of, s);
  auto const spoil = [&](tensor const& of, double value) {
    if (!of.in) return;
    auto part = tokens_of(of, x.of, p);
    for (std::int64_t r = 0; r < part.rows(); ++r)
      for (std::int64_t c = 0; c < part.cols(); ++c) set(part, r, c, value);
  };
  spoil(x.k, std::nan(""));
  spoil(x.v, std::nan(""));
  spoil(x.q, HUGE_VAL);
  spoil(x.log_decay, std::nan(""));
}

// Batches and packed sequences with and without decays, one past a segment.
inline std::vector<scan_case> company_cases() {
  std::vector<scan_case> all{
      {.b = 2, .n = 130, .h = 3, .decay = decays::mild, .states = true},
      {.b = 2, .n = 65, .h = 2, .d = 256, .dv = 48, .decay = decays::heads},
      {.h = 2, .decay = decays::none, .states = true, .lengths = {33, 70, 1, 17, 0, 64}},
      {.h = 2, .d = 128, .dv = 48, .decay = decays::strong, .lengths = {20, 70, 31}},
      {.d = 32, .dv = 32, .decay = decays::mild, .states = true, .lengths = {40, 1030, 3}}};
  all[1].type = all[3].type = dtype::fp16;
  return all;
}

}  // namespace tk::test
