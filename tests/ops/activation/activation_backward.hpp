// SPDX-License-Identifier: MIT
// One case of tk_activation_backward, and its oracle in double precision: da = dy b act'(a),
// db = dy act(a). With u = 2^-24, what fp32 may commit:
//   act, act'  tests/support/activate.hpp's, and u of them
//   da, db     two products, u each; numbers below 2^-126 may be 0, a, b and dy as well
#pragma once
#include "ops/activation/activation_backward.h"
#include "tests/ops/activation/activation.hpp"

namespace tk::test {

enum class activation_gradients { da, db, both };
enum class gradient_place { apart, on_a, on_b, on_dy };

struct activation_backward_operands;

struct activation_backward_case {
  using operands = activation_backward_operands;
  row_shape shape;
  dtype type = dtype::bf16;
  tk_activation_kind kind = TK_ACTIVATION_SILU;
  bool gated = true;    // b is given; else stores is da
  bool packed = false;  // a and b are halves of one tensor, laid out as a
  // a and b, of 16 bits, take turns in a, and da and db in da; layouts of these count pairs.
  bool interleaved = false;
  activation_data data = activation_data::uniform;
  activation_gradients stores = activation_gradients::both;
  gradient_place da_place = gradient_place::apart, db_place = gradient_place::apart;
  matrix_layout a_layout = {}, b_layout = {}, dy_layout = {}, da_layout = {}, db_layout = {};

  bool has_da() const { return interleaved || stores != activation_gradients::db; }
  bool has_db() const { return !interleaved && gated && stores != activation_gradients::da; }
  bool writes(gradient_place x) const {
    return (has_da() && da_place == x) || (has_db() && db_place == x);
  }
};

inline std::string describe(activation_backward_case const& x) {
  static char const* const places[] = {"", " on a", " on b", " on dy"};
  std::ostringstream s;
  s << activation_name(x.kind) << " backward " << x.shape << " " << name_of(x.type) << gating_of(x);
  if (x.has_da()) s << " da" << places[static_cast<int>(x.da_place)];
  if (x.has_db()) s << " db" << places[static_cast<int>(x.db_place)];
  if (x.data == activation_data::every_number) s << " of every number";
  describe(s, "a", x.a_layout);
  if (x.gated && !x.packed && !x.interleaved) describe(s, "b", x.b_layout);
  describe(s, "dy", x.dy_layout);
  describe(s, "da", x.da_layout);
  describe(s, "db", x.db_layout);
  return s.str();
}

struct activation_backward_operands {
  explicit activation_backward_operands(activation_backward_case const& x);
  activation_backward_operands(activation_backward_operands const&) = delete;

  activation_backward_case of;
  world memories;
  tensor a, b, dy, da, db;
  static constexpr row_operand<activation_backward_operands> table[] = {
      {"a", &activation_backward_operands::a},
      {"b", &activation_backward_operands::b},
      {"dy", &activation_backward_operands::dy},
      {"da", &activation_backward_operands::da, true},
      {"db", &activation_backward_operands::db, true}};
};

inline activation_backward_operands::activation_backward_operands(activation_backward_case const& c)
    : of(c), memories(3) {
  using enum gradient_place;
  auto const role_of = [&](gradient_place x) { return c.writes(x) ? role::output : role::input; };
  auto const in = place_inputs(memories, c, role_of(on_a), role_of(on_b));
  a = in.a, b = in.b;
  dy = place_rows(memories, c.type, c.shape, c.dy_layout, role_of(on_dy));
  fill_uniform(dy, 23, 0, 1);
  auto const output = [&](gradient_place place, matrix_layout const& how) {
    return place == on_a    ? a
           : place == on_b  ? b
           : place == on_dy ? dy
                            : output_rows(memories, c.type, c.shape, how);
  };
  if (c.interleaved && c.da_place == apart) {
    da = place_pairs(memories, c.type, c.shape, c.da_layout, role::output);
    fill(da, data::nans, 0);
  } else if (c.has_da()) {
    da = output(c.da_place, c.da_layout);
  }
  if (c.has_db()) db = output(c.db_place, c.db_layout);
}

template <class Body>
std::string with_problem(activation_backward_operands const& x, Body const& body) {
  tensor const* const tensors[] = {&x.a, &x.b, &x.dy, &x.da, &x.db};
  tk_activation_backward_problem p{};
  DLTensor const** const places[] = {&p.a, &p.b, &p.dy, &p.da, &p.db};
  DLTensor dl[5];
  for (std::size_t i = 0; i < 5; ++i) {
    if (!tensors[i]->in) continue;
    dl[i] = tensors[i]->dl();
    *places[i] = &dl[i];
  }
  p.size = sizeof p;
  p.kind = x.of.kind;
  p.interleaved = x.of.interleaved;
  return body(called_op{TK_OP_ACTIVATION_BACKWARD, tk_activation_backward},
              static_cast<tk_activation_backward_problem const*>(&p));
}

inline void check_row(activation_backward_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  constexpr double u = fp32_roundoff, least = fp32_least_normal;
  auto const kind = x.of.kind;
  auto const dy = given_row(x.dy, row);
  auto const [a, b] = numbers_of(x, row);
  bool const pairs = x.of.interleaved;
  for (std::int64_t col = 0; col < x.of.shape.width; ++col) {
    auto const i = static_cast<std::size_t>(col);
    auto const add = [&](error_meter& meter, tensor const& to, std::int64_t at, double exact,
                         double error) {
      double const slack = error + 4 * u * std::fabs(exact) + least;
      meter.add(row, at, result_at(to, row, at), exact, slack, rounded(to.type, exact) - exact,
                slack);
    };
    double const size = std::isfinite(a[i]) ? std::fabs(a[i]) : 0;
    if (x.da.in)
      add(meters[0], x.da, pairs ? 2 * col : col, dy[i] * b[i] * activation_slope(kind, a[i]),
          slope_slack(kind) * std::fabs(dy[i] * b[i]) +
              least * (2 + std::fabs(b[i]) + std::fabs(dy[i])));
    if (x.db.in || pairs)
      add(meters[x.da.in && x.db.in ? 1 : 0], pairs ? x.da : x.db, pairs ? 2 * col + 1 : col,
          dy[i] * activate(kind, a[i]),
          activation_slack(kind, a[i]) * std::fabs(dy[i]) + least * (size + std::fabs(dy[i])));
  }
}

}  // namespace tk::test
