// SPDX-License-Identifier: MIT
// The gradients of norm in double precision, and how tk_norm_backward is judged by them. With
// u = 2^-24, what fp32 may commit to
//   h = (r - mean) scale, g = dy weight, t = g - mean g - h mean(g h), dx = dr + scale t:
//   mean, mean g, mean(g h)  sums of a row in any of the orders in use, some hundred terms in a row
//           at most: 16 u of the mean of magnitudes; the terms' own errors, a product or two each
//   scale   as in norm.hpp: 14 u, and the differences' errors
//   t       those of its three parts, 2 u of each for its product and difference
//   dx      those of scale and t, two roundings; where a mask follows, a product and its factor
// and to dweight and dbias, sums over rows of dy h and dy: the terms' own errors, and of the sum of
// their magnitudes min(rows, 32) u. Up to 32 rows that is the most any order commits. D additions
// of more, one behind the other, err by a walk of D steps of u / sqrt 3 of what is summed so far:
// in the mean, where all terms have one sign, sqrt D / 3 u of the whole, else less. Of T tasks that
// sum D rows each, walks are apart: sqrt(D / T) / 3 u, and sqrt T / 3 u for adding them up, or 5 u
// for 2^18 rows in 132 tasks.
#pragma once
#include "tests/ops/norm/norm_backward.hpp"

namespace tk::test {

// Of one row; dx without dr.
struct norm_gradient {
  double mean = 0, root = 0, mean_g = 0, mean_gh = 0;
  std::vector<double> h, g, dx;
};

inline norm_gradient gradient_of_row(tk_norm_kind kind, float eps, std::vector<double> const& r,
                                     std::vector<double> const& dy,
                                     std::vector<double> const& weight) {
  auto const n = r.size();
  double const width = static_cast<double>(n);
  bool const layer = kind == TK_NORM_LAYER;
  norm_gradient x;
  x.h.resize(n), x.g.resize(n), x.dx.resize(n);
  double var = 0;
  for (double const v : r) x.mean += v / width;
  if (!layer) x.mean = 0;
  for (double const v : r) var += (v - x.mean) * (v - x.mean) / width;
  x.root = std::sqrt(var + static_cast<double>(eps));
  double const scale = 1 / x.root;
  for (std::size_t i = 0; i < n; ++i) {
    x.h[i] = (r[i] - x.mean) * scale;
    x.g[i] = dy[i] * weight[i];
    x.mean_g += x.g[i] / width;
    x.mean_gh += x.g[i] * x.h[i] / width;
  }
  if (!layer) x.mean_g = 0;
  for (std::size_t i = 0; i < n; ++i) x.dx[i] = scale * (x.g[i] - x.mean_g - x.h[i] * x.mean_gh);
  return x;
}

// What fp32 may commit to one row.
struct norm_gradient_slack {
  std::vector<double> h, dx;  // dx without dr
};
inline norm_gradient_slack slack_of(norm_gradient const& x, std::vector<double> const& r,
                                    bool layer) {
  constexpr double u = fp32_roundoff;
  auto const n = r.size();
  double const width = static_cast<double>(n), scale = 1 / x.root;
  norm_gradient_slack s;
  s.h.resize(n), s.dx.resize(n);
  if (!std::isfinite(x.root)) return s;  // h is 0, or NaN, whatever was rounded
  double mean_slack = 0, errors = 0;
  for (double const v : r) mean_slack += layer ? 16 * u * std::fabs(v) / width : 0;
  for (double const v : r) {
    double const e = mean_slack + u * std::fabs(v - x.mean);
    errors += e * e / width;
  }
  double const scale_slack = 14 * u + std::sqrt(errors) / x.root;
  double of_g = 0, of_gh = 0;  // errors of both means
  for (std::size_t i = 0; i < n; ++i) {
    double const h = std::fabs(x.h[i]), g = std::fabs(x.g[i]);
    s.h[i] = scale * (mean_slack + u * std::fabs(r[i] - x.mean)) + h * (scale_slack + u);
    of_g += layer ? 18 * u * g / width : 0;
    of_gh += (g * s.h[i] + 20 * u * g * h) / width;
  }
  double const mean_g = std::fabs(x.mean_g), mean_gh = std::fabs(x.mean_gh);
  for (std::size_t i = 0; i < n; ++i) {
    double const h = std::fabs(x.h[i]), g = std::fabs(x.g[i]);
    double const of_t = 3 * u * g + of_g + h * of_gh + mean_gh * s.h[i] +
                        2 * u * (mean_g + h * mean_gh) + fp32_least_normal;
    s.dx[i] = scale * of_t + std::fabs(x.dx[i]) * (scale_slack + 3 * u) + fp32_least_normal;
  }
  return s;
}

// Sums over rows, of all that a bound needs.
struct column_sums {
  explicit column_sums(std::int64_t width)
      : dweight(static_cast<std::size_t>(width), 0),
        weights(dweight),
        weight_slack(dweight),
        dbias(dweight),
        biases(dweight) {}
  std::vector<double> dweight, weights, weight_slack;  // of dy h, |dy h|, errors of dy h
  std::vector<double> dbias, biases;                   // of dy, |dy|

  void merge(column_sums const& x) {
    for (auto const part : {&column_sums::dweight, &column_sums::weights,
                            &column_sums::weight_slack, &column_sums::dbias, &column_sums::biases})
      for (std::size_t i = 0; i < dweight.size(); ++i) (this->*part)[i] += (x.*part)[i];
  }
};

// meters: of dx, and of dresidual where it is there.
inline void add_row(norm_backward_operands const& x, std::int64_t row,
                    std::span<error_meter> meters, column_sums* sums) {
  norm_backward_case const& c = x.of;
  auto const n = static_cast<std::size_t>(c.shape.width);
  auto const r = given_row(x.r, row), dy = given_row(x.dy, row);
  std::vector<double> weight(n, 1), dr(n, 0);
  if (c.weight) weight = given_row(x.weight, 0);
  if (c.dr) dr = given_row(x.dr, row);
  auto const exact = gradient_of_row(c.kind, c.eps, r, dy, weight);
  auto const slack = slack_of(exact, r, c.kind == TK_NORM_LAYER);
  for (std::size_t i = 0; i < n; ++i) {
    auto const col = static_cast<std::int64_t>(i);
    double const sum = exact.dx[i] + dr[i];
    double const of_sum = slack.dx[i] + fp32_roundoff * (std::fabs(dr[i]) + std::fabs(sum));
    double const kept = c.mask.p == 0 ? 1 : c.mask.kept(row, col);
    double const dx = kept == 0 ? 0 : sum * kept;
    double const of_dx = c.mask.p == 0 ? 0 : 2 * fp32_roundoff * std::fabs(dx);
    add_unless_special(meters[0], row, col, result_at(x.dx, row, col), dx, of_sum * kept + of_dx);
    if (x.dresidual.in)
      add_unless_special(meters[1], row, col, result_at(x.dresidual, row, col), sum, of_sum);
    if (!sums) continue;
    double const term = dy[i] * exact.h[i];
    sums->dweight[i] += term;
    sums->weights[i] += std::fabs(term);
    sums->weight_slack[i] += std::fabs(dy[i]) * slack.h[i] + fp32_roundoff * std::fabs(term);
    sums->dbias[i] += dy[i];
    sums->biases[i] += std::fabs(dy[i]);
  }
}

inline void check_row(norm_backward_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  add_row(x, row, meters, nullptr);
}

inline verdict judge_sums(norm_backward_operands const& x, column_sums const& sums) {
  auto const rows = static_cast<double>(x.of.shape.all_rows());
  double const of_sum = std::min(rows, 32.) * fp32_roundoff, least = rows * fp32_least_normal;
  verdict all;
  auto const judge = [&](char const* name, tensor const& out, auto const& exact,
                         auto const& magnitude, auto const& terms) {
    if (!out.in) return;
    error_meter meter(out.type);
    for (std::int64_t col = 0; col < out.cols(); ++col) {
      auto const i = static_cast<std::size_t>(col);
      add_unless_special(meter, 0, col, result_at(out, 0, col), exact[i],
                         of_sum * magnitude[i] + terms[i] + least);
    }
    auto const v = meter.judge(name, 1.05);
    if (all.ok()) all.wrong = v.wrong;
    all.compared += v.compared;
    all.share = std::max(all.share, v.share);
  };
  judge("dweight", x.dweight, sums.dweight, sums.weights, sums.weight_slack);
  judge("dbias", x.dbias, sums.dbias, sums.biases, std::vector<double>(sums.dbias.size(), 0));
  return all;
}

inline verdict compare(norm_backward_operands const& x) {
  auto all = meters_of(x);
  column_sums sums(x.of.shape.width);
  std::mutex merging;
  std::int64_t const rows = x.of.shape.all_rows();
  std::int64_t const some = 8 + (1 << 16) / (1 + x.of.shape.width);
  parallel_for((rows + some - 1) / some, [&](std::int64_t part) {
    auto rows_of = meters_of(x);
    column_sums own(x.of.shape.width);
    for (std::int64_t row = part * some; row < std::min(rows, (part + 1) * some); ++row)
      add_row(x, row, rows_of, &own);
    std::scoped_lock const lock(merging);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].merge(rows_of[i]);
    sums.merge(own);
  });
  auto v = judge_rows(x, all, rows);
  auto const of_sums = judge_sums(x, sums);
  if (v.ok()) v.wrong = of_sums.wrong;
  v.compared += of_sums.compared;
  v.share = std::max(v.share, of_sums.share);
  return v;
}

inline std::vector<tensor> written_by(norm_backward_operands const& x) {
  std::vector<tensor> all{x.dx};
  for (auto const* more : {&x.dresidual, &x.dweight, &x.dbias})
    if (more->in) all.push_back(*more);
  return all;
}

}  // namespace tk::test
