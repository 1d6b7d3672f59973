// SPDX-License-Identifier: MIT
// The oracle's dx and dw against finite differences of its losses: the sum of all rows', times
// dloss_scale, and each number of x and w moved up and down.
#include <doctest/doctest.h>

#include "tests/ops/linear_cross_entropy/linear_cross_entropy.hpp"

namespace tk::test {
namespace {

// Operands, and x and w in double precision, which move.
struct moved_operands {
  explicit moved_operands(linear_case const& c) : of(c), x(of.x), w(of.w) {
    std::uint64_t seed = 51;
    for (auto* all : {&x, &w}) {
      ++seed;
      for (std::size_t i = 0; i < all->e.size(); ++i) all->e[i] = 0.3 + 2 * random_unit(seed, i);
    }
  }

  double loss() const {
    double sum = 0;
    for (std::int64_t row = 0; row < x.rows; ++row)
      if (!is_ignored(of.of, of.labels, row)) sum += losses_of(of, row, x, w).loss().exact;
    return static_cast<double>(of.of.dloss_scale) * sum;
  }
  logit_gradients gradients() const {
    logit_gradients g{{x.rows, w.rows}, {x.rows, w.rows}};
    for (std::int64_t row = 0; row < x.rows; ++row)
      put_gradients(of, row, losses_of(of, row, x, w), g);
    return g;
  }
  // Central differences err by step^2 of the third derivative, and by 2^-53 loss / step.
  double difference(double& at) const {
    constexpr double step = 1e-5;
    double const was = at;
    at = was + step;
    double const above = loss();
    at = was - step;
    double const below = loss();
    at = was;
    return (above - below) / (2 * step);
  }

  linear_operands of;
  numbers_of x, w;
};

TEST_CASE("the oracle's gradients are the limits of differences of its losses") {
  constexpr double near = 1e-7;
  constexpr std::int64_t rows = 6, d = 4, vocab = 5;
  int compared = 0;
  for (float const smoothing : {0.f, 0.25f})
    for (float const z_loss : {0.f, 0.125f})
      for (float const softcap : {0.f, 2.f})
        for (auto const ignored : {ignored_label::none, ignored_label::minus_100}) {
          linear_case c{.shape = {.rank = 2, .rows = rows, .width = vocab}, .d = d};
          c.ignored = ignored;
          c.smoothing = smoothing, c.z_loss = z_loss, c.softcap = softcap;
          c.dloss_scale = compared % 3 ? 1 : -0.5f;
          moved_operands x(c);
          auto const g = x.gradients();
          for (std::int64_t i = 0; i < d; ++i) {
            for (std::int64_t row = 0; row < rows; ++row, ++compared)
              CHECK(std::fabs(dx_at(c, g, x.w, row, i, dtype::fp32).exact -
                              x.difference(x.x.row(row)[i])) < near);
            for (std::int64_t v = 0; v < vocab; ++v, ++compared)
              CHECK(std::fabs(dw_at(c, g, x.x, v, i, dtype::fp32).exact -
                              x.difference(x.w.row(v)[i])) < near);
          }
        }
  CHECK(compared == 16 * d * (rows + vocab));
}

}  // namespace
}  // namespace tk::test
