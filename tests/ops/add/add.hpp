// SPDX-License-Identifier: MIT
// One case of tk_add, and its oracle: what its header says of rounding, so that results are exact.
// In double precision products of fp32 numbers are exact, and a sum that is rounded to fp32 next is
// as if it had been rounded once (Figueroa, "When is double rounding innocuous?", 1995).
#pragma once
#include "ops/add/add.h"
#include "tests/support/row_suite.hpp"

namespace tk::test {

struct add_operands;

struct add_case {
  using operands = add_operands;
  row_shape shape;
  dtype type = dtype::bf16, y_type = dtype::bf16;
  bool has_b = true;  // else beta is 0
  int broadcast = 0;  // sizes of b that are 1: 1 for rows, 2 for h, 4 for b
  float alpha = 1, beta = 1;
  double mean = 0, size = 4;           // of elements: uniform in mean +- size
  row_place place = row_place::apart;  // y on a or b
  matrix_layout a_layout = {}, b_layout = {}, y_layout = {};

  row_shape b_shape() const {
    row_shape s = shape;
    if (broadcast & 1) s.rows = 1;
    if (broadcast & 2) s.h = 1;
    if (broadcast & 4) s.b = 1;
    return s;
  }
};

inline std::string describe(add_case const& x) {
  static char const* const places[] = {"", " on a", " on b"};
  std::ostringstream s;
  s << "add " << x.shape << " " << name_of(x.type) << " to " << name_of(x.y_type)
    << places[static_cast<int>(x.place)] << " alpha " << x.alpha;
  if (x.has_b) s << " beta " << x.beta;
  if (x.has_b && x.broadcast) s << " b of " << x.b_shape();
  s << " mean " << x.mean << " size " << x.size;
  describe(s, "a", x.a_layout);
  describe(s, "b", x.b_layout);
  describe(s, "y", x.y_layout);
  return s.str();
}

struct add_operands {
  explicit add_operands(add_case const& x);
  add_operands(add_operands const&) = delete;

  add_case of;
  world memories;
  tensor a, b, y;
  static constexpr row_operand<add_operands> table[] = {
      {"a", &add_operands::a}, {"b", &add_operands::b}, {"y", &add_operands::y, true}};
};

inline add_operands::add_operands(add_case const& c) : of(c), memories(3) {
  auto const use = [&](row_place here) { return c.place == here ? role::output : role::input; };
  a = place_rows(memories, c.type, c.shape, c.a_layout, use(row_place::on_first));
  fill_uniform(a, 21, c.mean, c.size);
  if (c.has_b) {
    b = place_rows(memories, c.y_type, c.b_shape(), c.b_layout, use(row_place::on_second));
    fill_uniform(b, 22, -c.mean, c.size);
  }
  y = c.place == row_place::on_first    ? a
      : c.place == row_place::on_second ? b
                                        : output_rows(memories, c.y_type, c.shape, c.y_layout);
}

template <class Body> std::string with_problem(add_operands const& x, Body const& body) {
  DLTensor const a = x.a.dl(), b = x.b.in ? x.b.dl() : DLTensor{}, y = x.y.dl();
  tk_add_problem p{};
  p.size = sizeof p;
  p.a = &a;
  p.b = x.b.in ? &b : nullptr;
  p.y = &y;
  p.alpha = x.of.alpha;
  p.beta = x.b.in ? x.of.beta : 0;
  return body(called_op{TK_OP_ADD, tk_add}, static_cast<tk_add_problem const*>(&p));
}

inline void check_row(add_operands const& x, std::int64_t row, std::span<error_meter> meters) {
  auto const& c = x.of;
  auto const single = [](double value) { return rounded(dtype::fp32, value); };
  auto const a = given_row(x.a, row);
  std::vector<double> b(a.size(), 0);
  if (x.b.in) b = given_row(x.b, broadcast_row(x.b, c.shape, row));
  for (std::size_t i = 0; i < a.size(); ++i) {
    double sum = single(static_cast<double>(c.alpha) * a[i]);
    if (x.b.in && c.beta != 0) sum = single(sum + single(static_cast<double>(c.beta) * b[i]));
    auto const col = static_cast<std::int64_t>(i);
    double const exact = rounded(x.y.type, sum);
    meters[0].add(row, col, result_at(x.y, row, col), exact, 0, 0, 0);
  }
}

}  // namespace tk::test
