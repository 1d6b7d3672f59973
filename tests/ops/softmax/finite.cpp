// SPDX-License-Identifier: MIT
// The oracle of tk_softmax_backward against finite differences of the forward's: the loss sum y dy,
// and each number of x and bias moved up and down. Of a bias that stands for several rows the
// gradient is the sum of theirs.
#include <doctest/doctest.h>

#include "tests/ops/softmax/softmax.hpp"
#include "tests/ops/softmax/softmax_backward.hpp"

namespace tk::test {
namespace {

// y of a row in double precision; what it does not see is 0.
std::vector<double> softmax_of_row(softmax_operands const& x, std::int64_t row) {
  std::vector<double> y(static_cast<std::size_t>(x.of.shape.width), 0);
  auto const weights = weights_of(scores_of(x, row));
  for (std::size_t i = 0; i < weights.size(); ++i) y[i] = weights[i].exact;
  return y;
}
std::vector<double> dy_of_row(softmax_operands const& x, std::int64_t row) {
  std::vector<double> dy(static_cast<std::size_t>(x.of.shape.width));
  for (std::size_t i = 0; i < dy.size(); ++i)
    dy[i] = 0.3 + random_unit(static_cast<std::uint64_t>(row) + 51, i);
  return dy;
}
double loss(softmax_operands const& x) {
  double sum = 0;
  for (std::int64_t row = 0; row < x.of.shape.all_rows(); ++row) {
    auto const y = softmax_of_row(x, row), dy = dy_of_row(x, row);
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
  }
  return sum;
}

// Central differences err by step^2 of the third derivative; operands are fp32, whose steps are
// what they come to. What is not seen is NaN, and anything else as well.
double difference(softmax_operands const& x, tensor& of, std::int64_t row, std::int64_t col) {
  constexpr double step = 0x1p-10;
  double const was = given_row(of, row)[static_cast<std::size_t>(col)];
  double const from = std::isnan(was) ? 0 : was;
  auto const at = [&](double value) {
    set(of, row, col, value);
    return std::pair{given_row(of, row)[static_cast<std::size_t>(col)], loss(x)};
  };
  auto const [high, above] = at(from + step);
  auto const [low, below] = at(from - step);
  at(was);
  return (above - below) / (high - low);
}

// How many numbers were compared.
int check_differences(softmax_operands& x) {
  constexpr double near = 1e-5;
  auto const& c = x.of;
  int compared = 0;
  std::vector<std::vector<double>> dbias(static_cast<std::size_t>(x.bias.in ? x.bias.rows() : 0));
  for (auto& row : dbias) row.resize(static_cast<std::size_t>(c.shape.width));
  for (std::int64_t row = 0; row < c.shape.all_rows(); ++row) {
    auto const g = gradient_of(softmax_of_row(x, row), dy_of_row(x, row),
                               static_cast<std::size_t>(columns_seen(c.mask, c.shape, row)));
    for (std::int64_t col = 0; col < c.shape.width; ++col, ++compared) {
      auto const i = static_cast<std::size_t>(col);
      double const t = i < g.t.size() ? g.t[i].exact : 0;
      CHECK(std::fabs(static_cast<double>(c.scale) * t - difference(x, x.x, row, col)) < near);
      if (x.bias.in) dbias[static_cast<std::size_t>(broadcast_row(x.bias, c.shape, row))][i] += t;
    }
  }
  for (std::size_t row = 0; row < dbias.size(); ++row)
    for (std::size_t i = 0; i < dbias[row].size(); ++i, ++compared)
      CHECK(std::fabs(dbias[row][i] - difference(x, x.bias, static_cast<std::int64_t>(row),
                                                 static_cast<std::int64_t>(i))) < near);
  return compared;
}

// Rows of each matrix see 2, 3, ... columns under the mask; the boolean one hides all of some rows.
TEST_CASE("the oracle's gradients are the limits of differences") {
  softmax_case c{.shape = {.rank = 4, .b = 2, .h = 2, .rows = 4, .width = 5}, .type = dtype::fp32};
  int compared = 0;
  for (float const scale : {1.f, -2.f})
    for (auto const mask : {TK_MASK_NONE, TK_MASK_CAUSAL})
      for (auto const bool_mask : {bool_mask_use::none, bool_mask_use::boolean}) {
        c.scale = scale, c.mask = mask, c.bool_mask = bool_mask;
        c.mask_broadcast = mask == TK_MASK_CAUSAL ? 2 : 0;
        c.bias = bias_use::none;
        softmax_operands x(c);
        compared += check_differences(x);
        c.bias = bias_use::fp32;
        for (c.broadcast = 0; c.broadcast < 8; ++c.broadcast) {
          softmax_operands biased(c);
          compared += check_differences(biased);
        }
      }
  // Of x nine times 80, of bias 5 (1 + 4) (1 + 2) (1 + 2).
  CHECK(compared == 8 * (9 * 80 + 225));
}

}  // namespace
}  // namespace tk::test
