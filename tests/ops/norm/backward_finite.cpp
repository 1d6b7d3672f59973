// SPDX-License-Identifier: MIT
// The oracle of tk_norm_backward against finite differences: norm in double precision, the loss
// sum y dy, and each element of x or r, weight and bias moved up and down.
#include <doctest/doctest.h>

#include "tests/ops/norm/backward_oracle.hpp"

namespace tk::test {
namespace {

using row = std::vector<double>;

struct small_norm {
  tk_norm_kind kind;
  float eps;
  std::vector<row> r, dy;
  row weight, bias;
  std::vector<row> dropped{};  // x, of which mask o x / (1 - p) is added to r, where there is any
  norm_mask mask{};

  double loss() const {
    double sum = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      auto x = r[i];
      for (std::size_t j = 0; i < dropped.size() && j < x.size(); ++j)
        x[j] += dropped[i][j] * mask.kept(std::int64_t(i), std::int64_t(j));
      double mean = 0, var = 0;
      for (double const v : x) mean += v / static_cast<double>(x.size());
      if (kind == TK_NORM_RMS) mean = 0;
      for (double const v : x) var += (v - mean) * (v - mean) / static_cast<double>(x.size());
      for (std::size_t j = 0; j < x.size(); ++j) {
        double const h = (x[j] - mean) / std::sqrt(var + static_cast<double>(eps));
        sum += (h * weight[j] + bias[j]) * dy[i][j];
      }
    }
    return sum;
  }
};

small_norm filled(tk_norm_kind kind, float eps, std::size_t rows, std::size_t width) {
  small_norm x{kind, eps, {}, {}, row(width), row(width)};
  std::uint64_t seed = 1;
  auto const fill = [&](row& to, double mean) {
    ++seed;
    for (std::size_t i = 0; i < width; ++i) to[i] = mean + random_unit(seed, i);
  };
  for (auto* all : {&x.r, &x.dy})
    for (std::size_t i = 0; i < rows; ++i) fill(all->emplace_back(width), all == &x.r ? 0.7 : 0);
  fill(x.weight, 1);
  fill(x.bias, 0);
  return x;
}

// Central differences err by step^2 of the third derivative, and by 2^-53 loss / step.
double difference(small_norm const& x, double& at) {
  constexpr double step = 1e-5;
  double const was = at;
  at = was + step;
  double const above = x.loss();
  at = was - step;
  double const below = x.loss();
  at = was;
  return (above - below) / (2 * step);
}

TEST_CASE("the oracle's gradients are the limits of differences") {
  constexpr double near = 1e-7;
  int compared = 0;
  for (auto const kind : {TK_NORM_LAYER, TK_NORM_RMS})
    for (float const eps : {1e-5f, 0.25f})
      for (std::size_t const width : {3, 17}) {
        auto x = filled(kind, eps, 4, width);
        row dweight(width, 0), dbias(width, 0);
        for (std::size_t i = 0; i < x.r.size(); ++i) {
          auto const exact = gradient_of_row(kind, eps, x.r[i], x.dy[i], x.weight);
          for (std::size_t j = 0; j < width; ++j, ++compared) {
            CHECK(std::fabs(exact.dx[j] - difference(x, x.r[i][j])) < near);
            dweight[j] += x.dy[i][j] * exact.h[j];
            dbias[j] += x.dy[i][j];
          }
        }
        for (std::size_t j = 0; j < width; ++j) {
          CHECK(std::fabs(dweight[j] - difference(x, x.weight[j])) < near);
          CHECK(std::fabs(dbias[j] - difference(x, x.bias[j])) < near);
        }
      }
  CHECK(compared == 4 * 4 * (3 + 17));
}

TEST_CASE("dx, through the mask, is the limit of differences") {
  constexpr std::size_t width = 17;
  int compared = 0;
  for (auto const kind : {TK_NORM_LAYER, TK_NORM_RMS})
    for (float const p : {0.25f, 0.9f}) {
      auto x = filled(kind, 0.25f, 4, width);
      x.dropped = x.dy;
      x.mask.p = p;
      for (std::size_t i = 0; i < x.r.size(); ++i) {
        auto r = x.r[i];
        row kept(width);
        for (std::size_t j = 0; j < width; ++j) {
          kept[j] = x.mask.kept(std::int64_t(i), std::int64_t(j));
          r[j] += x.dropped[i][j] * kept[j];
        }
        auto const exact = gradient_of_row(kind, x.eps, r, x.dy[i], x.weight);
        for (std::size_t j = 0; j < width; ++j, ++compared) {
          CHECK(std::fabs(exact.dx[j] - difference(x, x.r[i][j])) < 1e-6);
          CHECK(std::fabs(exact.dx[j] * kept[j] - difference(x, x.dropped[i][j])) < 1e-6);
        }
      }
    }
  CHECK(compared == 4 * 4 * int(width));
}

}  // namespace
}  // namespace tk::test
