// SPDX-License-Identifier: MIT
// One case of tk_based: sizes, states, packed sequences, layouts in memory. forward_operands builds
// the operands; oracle.hpp judges.
#pragma once
#include <sstream>
#include <string>

#include "ops/based/based.h"
#include "tests/support/random.hpp"
#include "tests/support/sequences.hpp"

namespace tk::test {

inline constexpr std::int64_t based_width = 16, based_moment_count = 153;

struct based_case {
  std::int64_t b = 1, n = 0, h = 1, dv = 64;
  dtype type = dtype::bf16;
  bool normalise = false;
  bool states = false;                     // initial and final ones are given, and sums
  std::vector<std::int64_t> lengths = {};  // of packed sequences; then b and n are not looked at
  float scale = 0.25f;
  order by = order::bnhd;
  std::int64_t padding = 0;  // elements after each row
  int misalignment = 0;      // of each operand's first element
};

inline std::string describe(based_case const& x) {
  std::ostringstream s;
  s << "based b " << x.b << " n " << x.n << " h " << x.h << " dv " << x.dv << " " << name_of(x.type)
    << (x.normalise ? " normalised" : "") << (x.states ? " states" : "")
    << (x.by == order::bhnd ? " bhnd" : "");
  if (x.padding) s << " +" << x.padding;
  if (x.misalignment) s << " off by " << x.misalignment;
  for (auto const n : x.lengths) s << " " << n;
  return s.str();
}

// What forward and backward are both given.
struct based_inputs {
  explicit based_inputs(based_case const& x) : of(x), memories(3) {
    q = make(based_width, role::input, 41), k = make(based_width, role::input, 42);
    v = make(x.dv, role::input, 43);
    if (x.states) initial = make_state(role::input, 44);
    if (x.states && x.normalise) {
      initial_sums = make_sums(role::input, 45);
      // The moments of five tokens, so that the sum that divides is no difference of large numbers.
      for (std::int64_t r = 0; r < initial_sums.rows(); ++r) set_moments_of_tokens(r);
    }
    if (packed(x)) starts = make_starts(memories, x);
  }
  based_inputs(based_inputs const&) = delete;

  // [b, n, h, columns], of packed sequences [total, h, columns].
  tensor make(std::int64_t columns, role use, std::uint64_t seed) {
    std::int64_t const n = tokens(of), row = columns + of.padding;
    bool const by_head = of.by == order::bhnd;
    std::int64_t const n_stride = by_head ? row : of.h * row, h_stride = by_head ? n * row : row;
    tensor x;
    if (packed(of))
      x = memories.make(of.type, {n, of.h, columns}, {n_stride, h_stride, 1}, use, of.misalignment);
    else
      x = memories.make(of.type, {of.b, n, of.h, columns}, {n * of.h * row, n_stride, h_stride, 1},
                        use, of.misalignment);
    fill(x, use == role::input ? data::reals : data::nans, seed);
    return x;
  }
  tensor make_state(role use, std::uint64_t seed) {
    std::int64_t const row = of.dv + of.padding, count = based_moment_count;
    auto x = memories.make(dtype::fp32, {sequences(of), of.h, count, of.dv},
                           {of.h * count * row, count * row, row, 1}, use, of.misalignment);
    fill(x, use == role::input ? data::reals : data::nans, seed);
    return x;
  }
  tensor make_sums(role use, std::uint64_t seed) {
    std::int64_t const row = based_moment_count + of.padding;
    auto x = memories.make(dtype::fp32, {sequences(of), of.h, based_moment_count},
                           {of.h * row, row, 1}, use, of.misalignment);
    fill(x, use == role::input ? data::reals : data::nans, seed);
    return x;
  }
  // The row of an operand.
  std::int64_t row(span const& at, std::int64_t token, std::int64_t head) const {
    return (at.batch * tokens(of) + at.first + token) * of.h + head;
  }

  based_case of;
  world memories;
  tensor q, k, v, initial, initial_sums, starts;

 private:
  void set_moments_of_tokens(std::int64_t r) {
    constexpr int count = 5;
    double sums[based_moment_count] = {};
    for (int token = 0; token < count; ++token) {
      double x[based_width];
      for (int c = 0; c < based_width; ++c)
        x[c] = random_unit(46, static_cast<std::uint64_t>((r * count + token) * based_width + c));
      int at = 0;
      sums[at++] += 1;
      for (double const y : x) sums[at++] += y;
      for (int i = 0; i < based_width; ++i)
        for (int j = i; j < based_width; ++j) sums[at++] += x[i] * x[j];
    }
    for (std::int64_t c = 0; c < based_moment_count; ++c) set(initial_sums, r, c, sums[c]);
  }
};

struct forward_operands : based_inputs {
  explicit forward_operands(based_case const& x) : based_inputs(x) {
    o = make(x.dv, role::output, 0);
    if (x.states) final = make_state(role::output, 0);
    if (x.states && x.normalise) final_sums = make_sums(role::output, 0);
  }
  tensor o, final, final_sums;
  tk_repeat repeat = TK_REPEAT_RUN;
};

template <class Body> std::string with_problem(forward_operands const& x, Body const& body) {
  given_tensor const q(x.q), k(x.k), v(x.v), o(x.o), initial(x.initial), final(x.final),
      initial_sums(x.initial_sums), final_sums(x.final_sums), starts(x.starts);
  tk_based_problem problem{};
  problem.size = sizeof problem;
  problem.q = q.get(), problem.k = k.get(), problem.v = v.get(), problem.o = o.get();
  problem.initial_state = initial.get(), problem.final_state = final.get();
  problem.initial_sums = initial_sums.get(), problem.final_sums = final_sums.get();
  problem.starts = starts.get();
  problem.scale = x.of.scale;
  problem.normalise = x.of.normalise ? 1 : 0;
  problem.repeat = x.repeat;
  return body(called_op{TK_OP_BASED, tk_based}, static_cast<tk_based_problem const*>(&problem));
}

}  // namespace tk::test
