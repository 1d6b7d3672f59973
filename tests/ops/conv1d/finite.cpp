// SPDX-License-Identifier: MIT
// The oracle of tk_conv1d_backward against finite differences of the forward's: the loss
// sum y dy + final_state dfinal, and each number of x, weight, bias and initial_state moved up and
// down.
#include <doctest/doctest.h>

#include "tests/ops/conv1d/conv1d_backward.hpp"

namespace tk::test {
namespace {

double loss(conv1d_backward_operands const& x) {
  auto const& c = x.of;
  double sum = 0;
  std::int64_t const before = c.taps - 1;
  for (std::int64_t s = 0; s < c.sequences(); ++s) {
    auto const at = span_of(c, s);
    for (std::int64_t t = 0; t < at.n; ++t) {
      auto const tokens = tokens_of(x, c, at, t - before, t + 1);
      auto const dy = given_row(x.dy, at.row + t);
      for (std::size_t col = 0; col < dy.size(); ++col)
        sum += dy[col] * activate(c.activation(), x.numbers.at(tokens, 0, col).value);
    }
    for (std::int64_t k = 0; k < before; ++k) {
      auto const token = token_of(x, c, at, at.n - before + k);
      auto const dfinal = given_row(x.dfinal, s * before + k);
      for (std::size_t col = 0; col < dfinal.size(); ++col) sum += dfinal[col] * token[col];
    }
  }
  return sum;
}

// Central differences err by step^2 of the third derivative; operands are fp32, whose steps are
// what they come to.
double difference(conv1d_backward_operands& x, tensor& of, std::int64_t row, std::int64_t col) {
  constexpr double step = 0x1p-10;
  double const was = given_row(of, row)[static_cast<std::size_t>(col)];
  auto const at = [&](double value) {
    set(of, row, col, value);
    x.numbers = conv1d_numbers(x, x.of);
    return std::pair{given_row(of, row)[static_cast<std::size_t>(col)], loss(x)};
  };
  auto const [high, above] = at(was + step);
  auto const [low, below] = at(was - step);
  at(was);
  return (above - below) / (high - low);
}

TEST_CASE("the oracle's gradients are the limits of differences") {
  constexpr double near = 1e-5;
  for (bool const silu : {false, true})
    for (int const taps : {2, 3, 4})
      for (std::vector<std::int64_t> const& starts :
           {std::vector<std::int64_t>{}, {0, 1, 1, 6}, {1, 3, 6}}) {
        conv1d_backward_case c;
        c.shape = {.rank = 3, .h = starts.empty() ? 2 : 1, .rows = 6, .width = 3};
        c.type = dtype::fp32;
        c.taps = taps, c.silu = silu, c.starts = starts;
        conv1d_backward_operands x(c);
        std::int64_t const before = taps - 1;
        for (std::int64_t s = 0; s < c.sequences(); ++s) {
          auto const at = span_of(c, s);
          for (std::int64_t t = -before; t < at.n; ++t) {
            auto const exact = gradient_of_token(x, at, t);
            for (std::int64_t col = 0; col < 3; ++col) {
              auto const moved = t < 0 ? difference(x, x.initial, s * before + t + before, col)
                                       : difference(x, x.x, at.row + t, col);
              CHECK(std::fabs(exact[static_cast<std::size_t>(col)].value - moved) < near);
            }
          }
        }
        auto const sums = sums_of(x);
        for (std::int64_t col = 0; col < 3; ++col) {
          auto const i = static_cast<std::size_t>(col);
          for (int tap = 0; tap < taps; ++tap)
            CHECK(std::fabs(sums.of[static_cast<std::size_t>(tap)][i].value -
                            difference(x, x.weight, col, tap)) < near);
          CHECK(std::fabs(sums.of.back()[i].value - difference(x, x.bias, 0, col)) < near);
        }
      }
}

}  // namespace
}  // namespace tk::test
