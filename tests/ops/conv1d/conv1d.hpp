// SPDX-License-Identifier: MIT
// One case of tk_conv1d, and its oracle in double precision: the sum's error (operands.hpp) through
// the activation, whose slope is below 1.1, and the activation's own. States are exact.
#pragma once
#include "ops/conv1d/conv1d.h"
#include "tests/ops/conv1d/operands.hpp"

namespace tk::test {

struct conv1d_operands;

struct conv1d_case : conv1d_sizes {
  using operands = conv1d_operands;
  bool final = true, in_place = false;  // the final state on the initial one
  matrix_layout y_layout = {}, final_layout = {};
};

inline std::string describe(conv1d_case const& x) {
  std::ostringstream s;
  s << "conv1d ";
  describe(s, static_cast<conv1d_sizes const&>(x));
  s << (x.in_place ? " in place" : x.final ? " final" : "");
  describe(s, "y", x.y_layout);
  describe(s, "final", x.final_layout);
  return s.str();
}

struct conv1d_operands : conv1d_inputs {
  explicit conv1d_operands(conv1d_case const& c)
      : conv1d_inputs(c, c.in_place), of(c), numbers(*this, c), sequences(sequences_of_rows(c)) {
    y = output_rows(memories, c.type, c.shape, c.y_layout);
    if (c.in_place) final = initial;
    else if (c.final) final = output_rows(memories, c.type, c.states(), c.final_layout);
  }
  conv1d_operands(conv1d_operands const&) = delete;

  conv1d_case of;
  tensor y, final;
  conv1d_numbers numbers;
  std::vector<std::int64_t> sequences;  // of each row
  // States are not among the rows.
  static constexpr row_operand<conv1d_operands> table[] = {{"y", &conv1d_operands::y, true}};
};

template <class Body> std::string with_problem(conv1d_operands const& x, Body const& body) {
  given_tensors given;
  tk_conv1d_problem p{};
  p.size = sizeof p;
  p.x = given(x.x);
  p.weight = given(x.weight);
  p.bias = given(x.bias);
  p.y = given(x.y);
  p.initial_state = given(x.initial);
  p.final_state = given(x.final);
  p.starts = given(x.starts);
  p.activation = x.of.activation();
  return body(called_op{TK_OP_CONV1D, tk_conv1d}, static_cast<tk_conv1d_problem const*>(&p));
}

// A row of no sequence stays as it was, NaN.
inline void check_row(conv1d_operands const& x, std::int64_t row, std::span<error_meter> meters) {
  auto const& c = x.of;
  auto const s = x.sequences[static_cast<std::size_t>(row)];
  std::vector<std::vector<double>> tokens;
  if (s >= 0) {
    auto const at = span_of(c, s);
    tokens = tokens_of(x, c, at, row - at.row - (c.taps - 1), row - at.row + 1);
  }
  for (std::int64_t col = 0; col < c.shape.width; ++col) {
    double exact = std::nan(""), slack = 0;
    if (s >= 0) {
      auto const z = x.numbers.at(tokens, 0, static_cast<std::size_t>(col));
      exact = activate(c.activation(), z.value);
      slack = (c.silu ? 1.1 : 1) * z.slack + activation_slack(c.activation(), z.value);
    }
    meters[0].add(row, col, result_at(x.y, row, col), exact, slack,
                  rounded(x.y.type, exact) - exact, slack);
  }
}

inline verdict compare_state(conv1d_operands const& x) {
  error_meter meter(x.final.type);
  std::int64_t const before = x.of.taps - 1;
  for (std::int64_t s = 0; s < x.of.sequences(); ++s)
    for (std::int64_t k = 0; k < before; ++k) {
      auto const at = span_of(x.of, s);
      auto const exact = token_of(x, x.of, at, at.n - before + k);
      for (std::int64_t col = 0; col < x.of.shape.width; ++col)
        meter.add(s * before + k, col, result_at(x.final, s * before + k, col),
                  exact[static_cast<std::size_t>(col)], 0, 0, 0);
    }
  return meter.judge("final_state", 1);
}
inline verdict compare(conv1d_operands const& x) {
  auto v = compare<conv1d_operands>(x);
  if (!x.final.in) return v;
  auto const state = compare_state(x);
  if (v.ok()) v.wrong = state.wrong;
  v.compared += state.compared;
  return v;
}
inline std::vector<tensor> written_by(conv1d_operands const& x) {
  return x.final.in ? std::vector{x.y, x.final} : std::vector{x.y};
}

}  // namespace tk::test
