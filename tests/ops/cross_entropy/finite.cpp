// SPDX-License-Identifier: MIT
// The oracle of gradients against finite differences: the oracle's own loss, and each logit moved
// up and down.
#include <doctest/doctest.h>

#include "tests/ops/cross_entropy/oracle.hpp"

namespace tk::test {
namespace {

using row = std::vector<double>;

// The loss in other words: - log of the softmax at the label, and so on.
double plain_loss(loss_options const& of, row const& x, std::size_t label) {
  double sum = 0, mean = 0;
  row s(x);
  for (double& v : s) {
    if (of.softcap > 0) v = of.softcap * std::tanh(v / of.softcap);
    sum += std::exp(v);
  }
  for (double const v : s) mean += std::log(std::exp(v) / sum) / static_cast<double>(x.size());
  return -(1 - of.smoothing) * std::log(std::exp(s[label]) / sum) - of.smoothing * mean +
         of.z_loss * std::log(sum) * std::log(sum);
}

// Central differences err by step^2 of the third derivative, and by 2^-53 loss / step.
TEST_CASE("the oracle's gradients are the limits of differences of its losses") {
  constexpr double step = 1e-5, near = 1e-8;
  int compared = 0;
  for (double const smoothing : {0., 0.1, 0.75})
    for (double const z_loss : {0., 1e-4, 0.5})
      for (double const softcap : {0., 2., 30.})
        for (std::size_t const width : {1, 3, 17}) {
          loss_options const of{smoothing, z_loss, softcap};
          row x(width);
          for (std::size_t i = 0; i < width; ++i) x[i] = 0.3 + 3 * random_unit(width, i);
          std::size_t const label = width / 2;
          loss_of_row const exact(of, x, label);
          CHECK(std::fabs(exact.loss().exact - plain_loss(of, x, label)) < 1e-12);
          for (std::size_t j = 0; j < width; ++j, ++compared) {
            auto above = x, below = x;
            above[j] += step, below[j] -= step;
            double const difference = (loss_of_row(of, above, label).loss().exact -
                                       loss_of_row(of, below, label).loss().exact) /
                                      (2 * step);
            CHECK(std::fabs(exact.gradient(j, exact.lse(), 1).exact - difference) < near);
            CHECK(exact.gradient(j, exact.lse(), -4).exact ==
                  -4 * exact.gradient(j, exact.lse(), 1).exact);
          }
        }
  CHECK(compared == 27 * (1 + 3 + 17));
}

}  // namespace
}  // namespace tk::test
