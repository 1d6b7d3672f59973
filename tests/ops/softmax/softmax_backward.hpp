// SPDX-License-Identifier: MIT
// One case of tk_softmax_backward, and its oracle in double precision: t = y (dy - sum of y dy),
// dx = scale t, dbias = t. With u = 2^-24, what fp32 may commit:
//   sum  of a row in any of the orders in use: 16 u of the sum of |y dy|, and the products' u
//   t    the difference, in either order with the product by y: 2 u |y| (|dy| + |sum|); a product,
//        2 u; numbers below 2^-126 may be 0
//   dx   a product, 2 u; where it comes first, the least number times scale
#pragma once
#include "ops/softmax/softmax_backward.h"
#include "tests/support/row_suite.hpp"

namespace tk::test {

struct softmax_backward_operands;

struct softmax_backward_case {
  using operands = softmax_backward_operands;
  row_shape shape;
  dtype type = dtype::bf16;
  tk_mask mask = TK_MASK_NONE;
  bool store_dbias = false;
  float scale = 1;
  double mean = 0, size = 1;  // of dy's elements: uniform in mean +- size
  // First is y, second dy.
  row_place dx_place = row_place::apart, dbias_place = row_place::apart;
  matrix_layout y_layout = {}, dy_layout = {}, dx_layout = {}, dbias_layout = {};
};

inline std::string describe(softmax_backward_case const& x) {
  static char const* const places[] = {"", " on y", " on dy"};
  std::ostringstream s;
  s << "softmax backward " << x.shape << " " << name_of(x.type)
    << (x.mask == TK_MASK_CAUSAL ? " causal" : "") << " dx" << places[static_cast<int>(x.dx_place)];
  if (x.store_dbias) s << " dbias" << places[static_cast<int>(x.dbias_place)];
  s << " scale " << x.scale << " mean " << x.mean << " size " << x.size;
  describe(s, "y", x.y_layout);
  describe(s, "dy", x.dy_layout);
  describe(s, "dx", x.dx_layout);
  describe(s, "dbias", x.dbias_layout);
  return s.str();
}

struct softmax_backward_operands {
  explicit softmax_backward_operands(softmax_backward_case const& x);
  softmax_backward_operands(softmax_backward_operands const&) = delete;

  softmax_backward_case of;
  world memories;
  tensor y, dy, dx, dbias;
  static constexpr row_operand<softmax_backward_operands> table[] = {
      {"y", &softmax_backward_operands::y},
      {"dy", &softmax_backward_operands::dy},
      {"dx", &softmax_backward_operands::dx, true},
      {"dbias", &softmax_backward_operands::dbias, true}};
};

// y's elements are weights of rows of up to 64 that count.
inline softmax_backward_operands::softmax_backward_operands(softmax_backward_case const& c)
    : of(c), memories(3) {
  auto const input = [&](row_place place, matrix_layout const& how) {
    bool const written = c.dx_place == place || (c.store_dbias && c.dbias_place == place);
    return place_rows(memories, c.type, c.shape, how, written ? role::output : role::input);
  };
  double const weight = 0.5 / static_cast<double>(std::clamp<std::int64_t>(c.shape.width, 1, 64));
  y = input(row_place::on_first, c.y_layout);
  fill_uniform(y, 21, weight, weight);
  dy = input(row_place::on_second, c.dy_layout);
  fill_uniform(dy, 22, c.mean, c.size);
  spoil_unseen(y, c.mask, c.shape);
  spoil_unseen(dy, c.mask, c.shape);
  auto const output = [&](row_place place, matrix_layout const& how) {
    return place == row_place::on_first    ? y
           : place == row_place::on_second ? dy
                                           : output_rows(memories, c.type, c.shape, how);
  };
  dx = output(c.dx_place, c.dx_layout);
  if (c.store_dbias) dbias = output(c.dbias_place, c.dbias_layout);
}

template <class Body>
std::string with_problem(softmax_backward_operands const& x, Body const& body) {
  bool const stores = x.dbias.in != nullptr;
  DLTensor const y = x.y.dl(), dy = x.dy.dl(), dx = x.dx.dl(),
                 dbias = stores ? x.dbias.dl() : DLTensor{};
  tk_softmax_backward_problem p{};
  p.size = sizeof p;
  p.y = &y;
  p.dy = &dy;
  p.dx = &dx;
  p.dbias = stores ? &dbias : nullptr;
  p.mask = x.of.mask;
  p.scale = x.of.scale;
  return body(called_op{TK_OP_SOFTMAX_BACKWARD, tk_softmax_backward},
              static_cast<tk_softmax_backward_problem const*>(&p));
}

// t of a row of y and dy, of which the first `seen` columns count.
struct gradient_of_scores {
  std::vector<bounded> t;
  bool wrong = false;  // NaN, or an infinity, in what is seen
};
inline gradient_of_scores gradient_of(std::vector<double> const& y, std::vector<double> const& dy,
                                      std::size_t seen) {
  constexpr double u = fp32_roundoff, least = fp32_least_normal;
  double sum = 0, magnitude = 0;
  for (std::size_t i = 0; i < seen; ++i) {
    sum += y[i] * dy[i];
    magnitude += std::fabs(y[i] * dy[i]);
  }
  double const sum_slack = 17 * u * magnitude + static_cast<double>(seen) * least;
  gradient_of_scores g{std::vector<bounded>(seen), !std::isfinite(magnitude)};
  for (std::size_t i = 0; i < seen; ++i) {
    double const t = y[i] * (dy[i] - sum);
    g.t[i] = {t, std::fabs(y[i]) * (sum_slack + 2 * u * (std::fabs(dy[i]) + std::fabs(sum))) +
                     2 * u * std::fabs(t) + least};
  }
  return g;
}

// A row with NaN or an infinity must have neither less nor more than those: as NaN, any of them.
inline void check_row(softmax_backward_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  softmax_backward_case const& c = x.of;
  auto const g = gradient_of(given_row(x.y, row), given_row(x.dy, row),
                             static_cast<std::size_t>(columns_seen(c.mask, c.shape, row)));
  double const scale = c.scale;
  for (std::int64_t col = 0; col < c.shape.width; ++col) {
    auto const i = static_cast<std::size_t>(col);
    bool const seen = i < g.t.size();
    auto const [t, slack] = seen ? g.t[i] : bounded{};
    auto const add = [&](error_meter& meter, tensor const& to, double exact, double error) {
      double const got = result_at(to, row, col), nan = std::nan("");
      if (seen && g.wrong) meter.add(row, col, std::isfinite(got) ? got : nan, nan, 0, 0, 0);
      else meter.add(row, col, got, exact, error, rounded(to.type, exact) - exact, error);
    };
    double const dx_slack =
        seen ? std::fabs(scale) * (slack + 2 * fp32_roundoff * std::fabs(t)) + fp32_least_normal
             : 0;
    add(meters[0], x.dx, scale * t, dx_slack);
    if (x.dbias.in) add(meters[1], x.dbias, t, slack);
  }
}

}  // namespace tk::test
