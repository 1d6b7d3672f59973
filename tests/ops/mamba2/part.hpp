// SPDX-License-Identifier: MIT
// Mamba-2's operands for parts of sequences (tests/support/sequence_parts.hpp).
#pragma once
#include "tests/ops/mamba2/backward_oracle.hpp"
#include "tests/support/sequence_parts.hpp"

namespace tk::test {

// The heads of a group share B and C, and what these get.
inline std::int64_t heads_of_unit(mamba2_case const& x) { return x.h / x.g; }
inline void set_heads(mamba2_case& x, std::int64_t heads) {
  x.g = heads / heads_of_unit(x), x.h = heads;
}

inline std::vector<pair_of_operands> inputs_of(mamba2_inputs& few, mamba2_inputs& all) {
  return {{&few.x, &all.x, kind::of_tokens},
          {&few.dt, &all.dt, kind::of_tokens},
          {&few.z, &all.z, kind::of_tokens},
          {&few.B, &all.B, kind::of_groups},
          {&few.C, &all.C, kind::of_groups},
          {&few.A, &all.A, kind::of_heads},
          {&few.D, &all.D, kind::of_heads},
          {&few.dt_bias, &all.dt_bias, kind::of_heads},
          {&few.initial, &all.initial, kind::of_states}};
}
inline std::vector<pair_of_operands> own_inputs(mamba2_operands&, mamba2_operands&) { return {}; }
inline std::vector<pair_of_operands> own_inputs(mamba2_backward_operands& few,
                                                mamba2_backward_operands& all) {
  return {{&few.dy, &all.dy, kind::of_tokens}, {&few.dfinal, &all.dfinal, kind::of_states}};
}
// What heads have of all sequences together no part has.
inline std::vector<pair_of_operands> results_of(mamba2_operands& few, mamba2_operands& all) {
  return {{&few.y, &all.y, kind::of_tokens}, {&few.final, &all.final, kind::of_states}};
}
inline std::vector<pair_of_operands> results_of(mamba2_backward_operands& few,
                                                mamba2_backward_operands& all) {
  return {{&few.dx, &all.dx, kind::of_tokens},   {&few.dz, &all.dz, kind::of_tokens},
          {&few.ddt, &all.ddt, kind::of_tokens}, {&few.dB, &all.dB, kind::of_groups},
          {&few.dC, &all.dC, kind::of_groups},   {&few.dinitial, &all.dinitial, kind::of_states}};
}

// NaN, and infinite C, in all that a sequence is given of tokens.
template <class Operands> void spoil_sequence(Operands& x, std::int64_t s) {
  auto const p = whole_sequence(x.of, s);
  for (auto const& y : inputs_of(x, x)) {
    bool const of_tokens = y.is == kind::of_tokens || y.is == kind::of_groups;
    if (!of_tokens || !y.all->in) continue;
    auto part = part_of(y, x.of, p);
    for (std::int64_t r = 0; r < part.rows(); ++r)
      for (std::int64_t c = 0; c < part.cols(); ++c)
        set(part, r, c, y.all == &x.C ? HUGE_VAL : std::nan(""));
  }
}

inline std::vector<mamba2_case> company_cases() {
  std::vector<mamba2_case> all{
      {.b = 2, .n = 130, .h = 4, .g = 2, .skip = skips::heads, .gate = true},
      {.b = 2, .n = 65, .h = 2, .p = 48, .s = 128, .type = dtype::fp16, .softplus = true},
      {.h = 2, .g = 2, .p = 16, .s = 32, .lengths = {33, 70, 1, 17, 0, 64}},
      {.p = 32, .s = 32, .skip = skips::columns, .bias = true, .lengths = {40, 1030, 3}}};
  all[0].states = all[2].states = true;
  return all;
}

}  // namespace tk::test
