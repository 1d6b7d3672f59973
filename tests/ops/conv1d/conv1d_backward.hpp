// SPDX-License-Identifier: MIT
// One case of tk_conv1d_backward, and its oracle in double precision. With u = 2^-24, what fp32 may
// commit to
//   g = dy act'(z)  the slope's own error, that of z (operands.hpp) times the slope's slope, at
//                   most 1/2, and u of the product
//   dx              errors of g, and u of the sum of magnitudes for each tap and for what dfinal
//   adds dweight, dbias  errors of the terms, and of sums over N tokens min(N, 32) u of their
//   magnitudes:
//                   additions one behind the other err by a walk
//                   (tests/ops/norm/backward_oracle.hpp)
#pragma once
#include "ops/conv1d/conv1d_backward.h"
#include "tests/ops/conv1d/operands.hpp"

namespace tk::test {

struct conv1d_backward_operands;

struct conv1d_backward_case : conv1d_sizes {
  using operands = conv1d_backward_operands;
  bool dfinal = true, dweight = true, dbias = true, dinitial = true;
  dtype sums_type = dtype::fp32;
  matrix_layout dy_layout = {}, dfinal_layout = {}, dx_layout = {}, dinitial_layout = {};
  int dweight_misalignment = 0;
};

inline std::string describe(conv1d_backward_case const& x) {
  std::ostringstream s;
  s << "conv1d backward ";
  describe(s, static_cast<conv1d_sizes const&>(x));
  s << (x.dfinal ? " dfinal" : "") << (x.dinitial ? " dinitial" : "") << " " << name_of(x.sums_type)
    << (x.dweight ? " dweight" : "") << (x.dbias ? " dbias" : "");
  describe(s, "dy", x.dy_layout);
  describe(s, "dfinal", x.dfinal_layout);
  describe(s, "dx", x.dx_layout);
  describe(s, "dinitial", x.dinitial_layout);
  return s.str();
}

struct conv1d_backward_operands : conv1d_inputs {
  explicit conv1d_backward_operands(conv1d_backward_case const& c)
      : conv1d_inputs(c, false), of(c), numbers(*this, c), sequences(sequences_of_rows(c)) {
    dy = place_rows(memories, c.type, c.shape, c.dy_layout, role::input);
    fill_uniform(dy, 31, 0, 1);
    if (c.dfinal) {
      dfinal = place_rows(memories, c.type, c.states(), c.dfinal_layout, role::input);
      fill_uniform(dfinal, 32, 0, 1);
    }
    dx = output_rows(memories, c.type, c.shape, c.dx_layout);
    if (c.dinitial) dinitial = output_rows(memories, c.type, c.states(), c.dinitial_layout);
    auto const output = [&](std::vector<std::int64_t> sizes, int off) {
      tensor y = memories.make(c.sums_type, sizes, row_major(sizes), role::output, off);
      fill(y, data::nans, 0);
      return y;
    };
    if (c.dweight) dweight = output({c.shape.width, c.taps}, c.dweight_misalignment);
    if (c.dbias) dbias = output({c.shape.width}, 0);
  }
  conv1d_backward_operands(conv1d_backward_operands const&) = delete;

  conv1d_backward_case of;
  tensor dy, dfinal, dx, dweight, dbias, dinitial;
  conv1d_numbers numbers;
  std::vector<std::int64_t> sequences;  // of each row
  // Sums and states are not among the rows.
  static constexpr row_operand<conv1d_backward_operands> table[] = {
      {"dx", &conv1d_backward_operands::dx, true}};
};

template <class Body>
std::string with_problem(conv1d_backward_operands const& x, Body const& body) {
  given_tensors given;
  tk_conv1d_backward_problem p{};
  p.size = sizeof p;
  p.x = given(x.x);
  p.weight = given(x.weight);
  p.bias = given(x.bias);
  p.dy = given(x.dy);
  p.initial_state = given(x.initial);
  p.dfinal_state = given(x.dfinal);
  p.starts = given(x.starts);
  p.dx = given(x.dx);
  p.dweight = given(x.dweight);
  p.dbias = given(x.dbias);
  p.dinitial_state = given(x.dinitial);
  p.activation = x.of.activation();
  return body(called_op{TK_OP_CONV1D_BACKWARD, tk_conv1d_backward},
              static_cast<tk_conv1d_backward_problem const*>(&p));
}

// The gradient of token t's sum before the activation, 0 where there is no such token.
struct gradient {
  double value = 0, slack = 0;
};
inline gradient gradient_of_sum(conv1d_sizes const& c, conv1d_numbers::sum const& z, double dy) {
  auto const kind = c.activation();
  double const g = dy * activation_slope(kind, z.value);
  // A slope is from -0.1 to 1.1.
  double const of_slope = c.silu ? std::fmin(slope_slack(kind) + z.slack / 2, 1.2) : 0;
  return {g, std::fabs(dy) * of_slope + fp32_roundoff * std::fabs(g) + fp32_least_normal};
}

// A token or one of the state before it, -(taps - 1) <= t < n: its gradient in each channel.
inline std::vector<gradient> gradient_of_token(conv1d_backward_operands const& x,
                                               token_span const& at, std::int64_t t) {
  auto const& c = x.of;
  std::int64_t const before = c.taps - 1;
  auto const tokens = tokens_of(x, c, at, std::max(t - before, -before), t + before + 1);
  auto const skipped = std::max(t - before, -before) - (t - before);  // before the state
  std::vector<gradient> dx(static_cast<std::size_t>(c.shape.width));
  for (std::int64_t i = 0; i < c.taps; ++i) {
    std::int64_t const to = t + before - i;  // the token whose sum has it as term i
    if (to < 0 || to >= at.n) continue;
    auto const dy = given_row(x.dy, at.row + to);
    for (std::size_t col = 0; col < dx.size(); ++col) {
      auto const z = x.numbers.at(tokens, std::size_t(before - i - skipped), col);
      auto const g = gradient_of_sum(c, z, dy[col]);
      double const w = x.numbers.weight[col][std::size_t(i)];
      dx[col].value += w * g.value;
      dx[col].slack +=
          std::fabs(w) * g.slack + (c.taps + 1) * fp32_roundoff * std::fabs(w * g.value);
    }
  }
  if (auto const k = t - (at.n - before); k >= 0 && x.dfinal.in) {
    auto const more = given_row(x.dfinal, at.sequence * before + k);
    for (std::size_t col = 0; col < dx.size(); ++col) {
      dx[col].value += more[col];
      dx[col].slack += fp32_roundoff * (std::fabs(dx[col].value) + std::fabs(more[col]));
    }
  }
  return dx;
}

// Rows of dx, or of dinitial; one of no sequence stays as it was, NaN.
inline void check_gradient(tensor const& out, std::int64_t row, std::vector<gradient> const& exact,
                           error_meter& meter) {
  for (std::int64_t col = 0; col < out.cols(); ++col) {
    auto const& dx = exact[static_cast<std::size_t>(col)];
    add_unless_special(meter, row, col, result_at(out, row, col), dx.value,
                       dx.slack + 8 * fp32_least_normal);
  }
}
inline void check_row(conv1d_backward_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  auto const s = x.sequences[static_cast<std::size_t>(row)];
  if (s >= 0) {
    auto const at = span_of(x.of, s);
    return check_gradient(x.dx, row, gradient_of_token(x, at, row - at.row), meters[0]);
  }
  for (std::int64_t col = 0; col < x.dx.cols(); ++col)
    meters[0].add(row, col, result_at(x.dx, row, col), std::nan(""), 0, 0, 0);
}

inline verdict compare_initial(conv1d_backward_operands const& x) {
  error_meter meter(x.dinitial.type);
  std::int64_t const before = x.of.taps - 1;
  for (std::int64_t row = 0; row < x.dinitial.rows(); ++row)
    check_gradient(x.dinitial, row,
                   gradient_of_token(x, span_of(x.of, row / before), row % before - before), meter);
  return meter.judge("dinitial_state", 1.05);
}

// Of each channel, for each tap and last for the bias.
struct conv1d_sums_of {
  struct sum {
    double value = 0, size = 0, slack = 0;
    void add(double term, double of_term) {
      value += term, size += std::fabs(term), slack += of_term + fp32_roundoff * std::fabs(term);
    }
  };
  std::vector<std::vector<sum>> of;
  std::int64_t tokens = 0;

  explicit conv1d_sums_of(conv1d_sizes const& c)
      : of(std::size_t(c.taps + 1), std::vector<sum>(std::size_t(c.shape.width))) {}
  void add(conv1d_backward_operands const& x, token_span const& at, std::int64_t t) {
    auto const& c = x.of;
    auto const terms = tokens_of(x, c, at, t - (c.taps - 1), t + 1);
    auto const dy = given_row(x.dy, at.row + t);
    ++tokens;
    for (std::size_t col = 0; col < dy.size(); ++col) {
      auto const g = gradient_of_sum(c, x.numbers.at(terms, 0, col), dy[col]);
      for (std::size_t i = 0; i < terms.size(); ++i)
        of[i][col].add(g.value * terms[i][col], g.slack * std::fabs(terms[i][col]));
      of.back()[col].add(g.value, g.slack);
    }
  }
};
inline conv1d_sums_of sums_of(conv1d_backward_operands const& x) {
  conv1d_sums_of sums(x.of);
  for (std::int64_t s = 0; s < x.of.sequences(); ++s)
    for (std::int64_t t = 0; t < span_of(x.of, s).n; ++t) sums.add(x, span_of(x.of, s), t);
  return sums;
}
inline verdict judge_sums(conv1d_backward_operands const& x, conv1d_sums_of const& sums) {
  verdict all;
  double const tokens = static_cast<double>(sums.tokens);
  auto const judge = [&](char const* name, tensor const& out, auto const& at) {
    if (!out.in) return;
    error_meter meter(out.type);
    for (std::int64_t row = 0; row < out.rows(); ++row)
      for (std::int64_t col = 0; col < out.cols(); ++col) {
        conv1d_sums_of::sum const& sum = at(row, col);
        double const slack = std::fmin(tokens, 32) * fp32_roundoff * sum.size + sum.slack +
                             tokens * fp32_least_normal;
        add_unless_special(meter, row, col, result_at(out, row, col), sum.value, slack);
      }
    auto const v = meter.judge(name, 1.05);
    if (all.ok()) all.wrong = v.wrong;
    all.compared += v.compared;
    all.share = std::max(all.share, v.share);
  };
  auto const at = [](auto i) { return static_cast<std::size_t>(i); };
  judge("dweight", x.dweight, [&](auto row, auto col) { return sums.of[at(col)][at(row)]; });
  judge("dbias", x.dbias, [&](auto, auto col) { return sums.of.back()[at(col)]; });
  return all;
}

inline verdict compare(conv1d_backward_operands const& x) {
  auto v = compare<conv1d_backward_operands>(x);
  auto const also = [&](verdict const& part) {
    if (v.ok()) v.wrong = part.wrong;
    v.compared += part.compared;
    v.share = std::max(v.share, part.share);
  };
  if (x.dinitial.in) also(compare_initial(x));
  if (x.dweight.in || x.dbias.in) also(judge_sums(x, sums_of(x)));
  return v;
}
inline std::vector<tensor> written_by(conv1d_backward_operands const& x) {
  std::vector<tensor> all{x.dx};
  for (auto const* more : {&x.dweight, &x.dbias, &x.dinitial})
    if (more->in) all.push_back(*more);
  return all;
}

}  // namespace tk::test
