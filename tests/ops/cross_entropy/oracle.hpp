// SPDX-License-Identifier: MIT
// A row of cross_entropy in double precision, for both of its ops. With u = 2^-24, what fp32 may
// commit:
//   s     without a softcap none; with one, relatively 2^-21 of tanh and 5 u of products; where
//         x / softcap is below 2^-126 it may be 0
//   p     exp(s_j - lse): 4 u (|s_j| + |lse|) of the exponent, in base 2; 2^-22, a GPU's
//         approximation, and 4 u; the errors of s_j and lse; numbers below 2^-125 may be 0, where
//         exp2 is
//   lse   of each term 4 u (|s_j| + |s_j - max|), 2^-22 and its s_j's error, weighted as the terms
//         are; a sum, below; 2^-21 of the logarithm, and 4 u (|lse| + |max|)
//   sums  16 u, and u for each 512 columns: a lane adds some hundred numbers one after another,
//         errors of which half cancel; of sum_j s_j, as much of the sum of |s_j|
//   loss  what lse, s_t and the sum have, times their factors; 4 u of each term
//   dx    what p (1 + 2 z lse) has, and 4 u of each term, times dloss; of the slope 1 - tanh^2
//   twice
//         the error of tanh, and 4 u; 4 u of the product
#pragma once
#include <optional>

#include "tests/support/row_suite.hpp"

namespace tk::test {

struct loss_options {
  double smoothing = 0, z_loss = 0, softcap = 0;
};

class loss_of_row {
 public:
  // No label: one that is no column.
  loss_of_row(loss_options const& of, std::vector<double> const& x,
              std::optional<std::size_t> label);

  bool is_nan() const { return nan_; }  // NaN or +inf among the scores
  bounded lse() const { return lse_; }
  bounded loss() const;
  // With an lse, which may be a given one, and `dloss`.
  bounded gradient(std::size_t j, bounded const& lse, double dloss) const;

 private:
  static constexpr double u = fp32_roundoff, exp2_slack = 0x1p-22, tanh_slack = 0x1p-21 + 5 * u;
  double share() const { return of_.smoothing / static_cast<double>(s_.size()); }
  double error_of(std::size_t j) const {
    return of_.softcap > 0 ? std::fabs(s_[j]) * tanh_slack + of_.softcap * fp32_least_normal : 0;
  }
  void find_lse();

  loss_options of_;
  std::vector<double> s_;
  std::optional<std::size_t> label_;
  bounded lse_, sum_;
  bool nan_ = false;
};

inline loss_of_row::loss_of_row(loss_options const& of, std::vector<double> const& x,
                                std::optional<std::size_t> label)
    : of_(of), s_(x), label_(label) {
  double const cap = of.softcap;
  double const adding = (16 + static_cast<double>(x.size()) / 512) * u;
  for (std::size_t j = 0; j < s_.size(); ++j) {
    if (cap > 0) s_[j] = cap * std::tanh(s_[j] / cap);
    nan_ |= std::isnan(s_[j]) || s_[j] == HUGE_VAL;
    sum_.exact += s_[j];
    sum_.slack += error_of(j) + adding * std::fabs(s_[j]);
  }
  if (nan_) lse_.exact = std::nan("");
  else find_lse();
}

inline void loss_of_row::find_lse() {
  double top = -HUGE_VAL, sum = 0, errors = 0;
  for (double const s : s_) top = std::max(top, s);
  lse_.exact = top;
  if (top == -HUGE_VAL) return;
  for (std::size_t j = 0; j < s_.size(); ++j) {
    if (s_[j] == -HUGE_VAL) continue;
    double const weight = std::exp(s_[j] - top);
    sum += weight;
    errors += weight * (4 * u * (std::fabs(s_[j]) + top - s_[j]) + exp2_slack + error_of(j));
  }
  lse_.exact += std::log(sum);
  lse_.slack = errors / sum + (16 + static_cast<double>(s_.size()) / 512) * u + 0x1p-21 +
               4 * u * (std::fabs(lse_.exact) + std::fabs(top));
}

inline bounded loss_of_row::loss() const {
  if (!label_ || nan_) return {std::nan(""), 0};
  double const l = lse_.exact, z = of_.z_loss, of_label = (1 - of_.smoothing) * s_[*label_];
  double const of_sum = of_.smoothing > 0 ? share() * sum_.exact : 0;
  double const sum_slack = of_.smoothing > 0 ? share() * sum_.slack : 0;
  return {l - of_label - of_sum + z * l * l,
          lse_.slack * (1 + 2 * z * (std::fabs(l) + lse_.slack)) +
              (1 - of_.smoothing) * error_of(*label_) + sum_slack +
              4 * u * (std::fabs(l) + std::fabs(of_label) + std::fabs(of_sum) + z * l * l) +
              fp32_least_normal};
}

inline bounded loss_of_row::gradient(std::size_t j, bounded const& lse, double dloss) const {
  if (!label_ || lse.exact == -HUGE_VAL) return {std::nan(""), 0};
  constexpr double least = fp32_least_normal;
  double const factor = 1 + 2 * of_.z_loss * lse.exact;
  double p = 0, p_slack = 2 * least;
  if (s_[j] != -HUGE_VAL || std::isnan(lse.exact)) {
    p = std::exp(s_[j] - lse.exact);
    p_slack += p * std::expm1(4 * u * (std::fabs(s_[j]) + std::fabs(lse.exact)) + exp2_slack +
                              4 * u + error_of(j) + lse.slack);
  }
  double const rest = *label_ == j ? 1 - of_.smoothing : 0, e = share();
  double const terms = p * (1 + 2 * of_.z_loss * std::fabs(lse.exact)) + rest + e;
  double const of_score = p * factor - rest - e;
  double const score_slack = p_slack * (1 + 2 * of_.z_loss * std::fabs(lse.exact)) +
                             p * 2 * of_.z_loss * lse.slack + 4 * u * terms;
  double slope = 1, slope_slack = 0;
  if (of_.softcap > 0) {
    double const t = s_[j] / of_.softcap;
    slope = 1 - t * t;
    slope_slack = 2 * t * t * tanh_slack + 4 * u;
  }
  double const exact = dloss * of_score * slope;
  return {exact, std::fabs(dloss) * (score_slack * (slope + slope_slack) +
                                     std::fabs(of_score) * slope_slack + 2 * least) +
                     4 * u * std::fabs(exact) + least};
}

// ---- what a case of either op has
enum class ignored_label { none, minus_100, column_3 };
// Labels that are no columns: a row in seven.
enum class far_labels { none, some };

template <class Case> std::int64_t ignore_index(Case const& c) {
  return c.ignored == ignored_label::minus_100  ? -100
         : c.ignored == ignored_label::column_3 ? 3
                                                : 0;
}
template <class Case> loss_options options_of(Case const& c) {
  return {static_cast<double>(c.smoothing), static_cast<double>(c.z_loss),
          static_cast<double>(c.softcap)};
}

// Of the last row a column.
template <class Case> void fill_labels(tensor& labels, Case const& c) {
  double const outside[] = {-1, static_cast<double>(c.shape.width), -0x1p31, 0x1p31 - 1};
  double const far[] = {0x1p32, 0x1p40 + 1, -0x1p63, -0x1p32 + 2};
  for (std::int64_t row = 0; row < labels.rows(); ++row) {
    auto const at = static_cast<std::uint64_t>(row);
    auto label =
        static_cast<double>(random_below(static_cast<std::uint64_t>(c.shape.width), 31, at));
    bool const last = row + 1 == labels.rows();
    if (row % 5 == 3 && c.ignored != ignored_label::none && !last)
      label = static_cast<double>(ignore_index(c));
    if (row % 7 == 2 && c.outside == far_labels::some && !last)
      label = row % 2 && labels.type == dtype::int64 ? far[row / 14 % 4] : outside[row / 14 % 4];
    set(labels, row, 0, label);
  }
}

template <class Case> bool is_ignored(Case const& c, tensor const& labels, std::int64_t row) {
  return c.ignored != ignored_label::none &&
         given_row(labels, row)[0] == static_cast<double>(ignore_index(c));
}
inline std::optional<std::size_t> column_of_label(tensor const& labels, std::int64_t row,
                                                  std::int64_t vocab) {
  double const label = given_row(labels, row)[0];
  if (label < 0 || label >= static_cast<double>(vocab)) return {};
  return static_cast<std::size_t>(label);
}

inline void add_to(error_meter& meter, tensor const& to, std::int64_t row, std::int64_t col,
                   bounded const& x) {
  meter.add(row, col, result_at(to, row, col), x.exact, x.slack,
            rounded(to.type, x.exact) - x.exact, x.slack);
}

template <class Case> void describe_options(std::ostream& s, Case const& x) {
  static char const* const ignored[] = {"", " ignores -100", " ignores 3"};
  s << x.shape << " " << name_of(x.type) << " " << name_of(x.label_type) << " labels"
    << ignored[static_cast<int>(x.ignored)] << (x.outside == far_labels::some ? " far labels" : "")
    << " smoothing " << x.smoothing << " z " << x.z_loss << " softcap " << x.softcap << " mean "
    << x.mean << " size " << x.size;
}

}  // namespace tk::test
