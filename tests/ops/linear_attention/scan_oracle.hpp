// SPDX-License-Identifier: MIT
// What the oracles of scans have in common: states in double precision. Beside each stands that of
// the absolute values of its terms, M, which bounds errors, and that of their squares, Q, which
// says how large they usually are. With u the type's unit roundoff, a kernel rounds weights,
// weighted values and the state where it is read, by u each: at most 3 u M, usually u sqrt(Q / 2).
// fp32: sums to (8 + sqrt(n) / 4) 2^-24 M; exponents are sums of up to 64 logs, wrong by 2^-22 of
// the largest such sum; exp2 is good to 2^-21.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/tensor.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {

// A state, and what its terms are in size and in square.
struct state_sums {
  std::int64_t rows, cols;
  std::vector<double> x, size, square;

  state_sums(std::int64_t r, std::int64_t c)
      : rows(r), cols(c), x(r * c), size(r * c), square(r * c) {}
  void begin(tensor const& from, std::int64_t state) {
    if (!from.in) return;
    std::vector<double> row(cols);
    for (std::int64_t r = 0; r < rows; ++r) {
      read_row(dtype::fp32, from.image_row(state * rows + r), cols, row.data());
      for (std::int64_t c = 0; c < cols; ++c) {
        double const y = row[c];
        x[r * cols + c] = y, size[r * cols + c] = std::fabs(y), square[r * cols + c] = y * y;
      }
    }
  }
  void decay(double a) {
    for (auto& y : x) y *= a;
    for (auto& y : size) y *= a;
    for (auto& y : square) y *= a * a;
  }
  void add(double factor, double const* a, double const* b) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c) {
        double const y = factor * a[r] * b[c];
        x[r * cols + c] += y, size[r * cols + c] += std::fabs(y), square[r * cols + c] += y * y;
      }
  }
};

// One result row's exact values, and their terms' sizes and squares.
struct result_row {
  std::vector<double> x, size, square;
  result_row() = default;
  // q S, or S v where transposed.
  result_row(state_sums const& s, double factor, double const* by, bool transposed) {
    std::int64_t const n = transposed ? s.rows : s.cols, terms = transposed ? s.cols : s.rows;
    x.assign(n, 0), size.assign(n, 0), square.assign(n, 0);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t t = 0; t < terms; ++t) {
        std::int64_t const at = transposed ? i * s.cols + t : t * s.cols + i;
        double const y = factor * by[t];
        x[i] += y * s.x[at], size[i] += std::fabs(y) * s.size[at];
        square[i] += y * y * s.square[at];
      }
  }
};

// Of sums of `terms` products, where exponents are sums of logs of up to `longest` in size.
struct scan_bounds {
  double relative, unit, fp32, least_state;

  scan_bounds(dtype type, double longest, double terms) {
    double const u = format_of(type).unit_roundoff;
    fp32 = (8 + std::sqrt(terms) / 4 + terms / 64) * fp32_roundoff + 0x1p-21 + longest * 0x1p-22;
    relative = 3 * u + fp32;
    unit = u / std::sqrt(2.0);
    // Values of fp16 that are weighted below its least normal number lose more, in each of a chunk.
    least_state = type == dtype::fp16 ? 0x1p-25 * 64 : fp32_least_normal;
  }
};

// A result of [tokens, heads, columns], judged.
class judged {
 public:
  judged(tensor const& result, double least)
      : result_(&result), meter_(result.type), least_(least) {}
  void add(std::int64_t row, result_row const& exact, scan_bounds const& bounds) {
    for (std::size_t c = 0; c < exact.x.size(); ++c) {
      double const got =
          decode(result_->type,
                 result_->result_row(row) + static_cast<std::int64_t>(c) * bytes_of(result_->type));
      // Weights of fp16 below its least normal number lose more.
      double const slack = exact.size[c] * bounds.relative + least_;
      double const out = rounded(result_->type, exact.x[c]) - exact.x[c];
      double const unit = std::sqrt(out * out + bounds.unit * bounds.unit * exact.square[c]);
      meter_.add(row, static_cast<std::int64_t>(c), got, exact.x[c], slack, unit,
                 exact.size[c] * bounds.fp32 + least_);
    }
  }
  void add_state(std::int64_t state, state_sums const& s, scan_bounds const& bounds) {
    double const least = bounds.least_state;
    for (std::int64_t r = 0; r < s.rows; ++r)
      for (std::int64_t c = 0; c < s.cols; ++c) {
        std::int64_t const at = r * s.cols + c;
        double const got = decode(dtype::fp32, result_->result_row(state * s.rows + r) + c * 4);
        double const unit = bounds.unit * std::sqrt(s.square[at]);
        meter_.add(state * s.rows + r, c, got, s.x[at], s.size[at] * bounds.relative + least, unit,
                   s.size[at] * bounds.fp32 + least);
      }
  }
  error_meter const& meter() const { return meter_; }
  void merge(judged const& other) { meter_.merge(other.meter_); }

 private:
  tensor const* result_;
  error_meter meter_;
  double least_;
};

// dlog_decay of one sequence and head. The loss's derivative by the sum of logs up to token t is
// q_t dq_t - k_t dk_t; summed from the last token on, and from <S_n, dfinal>, it is dlog_decay_t.
// The same sums of sizes and of squares say how large the terms are of <S_e, D_e>, where a chunk
// ends, behind at most 63 more tokens.
class decay_sums {
 public:
  explicit decay_sums(std::int64_t n) : tokens_(static_cast<std::size_t>(n)) {}
  void add(std::int64_t t, double sign, double const* by, result_row const& of,
           scan_bounds const& bounds) {
    auto& x = tokens_[static_cast<std::size_t>(t)];
    double const u = bounds.unit * std::sqrt(2.0);
    for (std::size_t c = 0; c < of.x.size(); ++c) {
      double const size = std::fabs(by[c]) * of.size[c], square = by[c] * by[c] * of.square[c];
      x.value += sign * by[c] * of.x[c], x.size += size, x.factors += std::fabs(by[c]);
      x.net += sign * size, x.net_square += sign * square;
      x.variance += bounds.unit * bounds.unit * square + std::pow(u * by[c] * of.x[c], 2) / 3;
    }
  }
  void end(state_sums const& s, state_sums const& grad) {
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      last_.value += s.x[i] * grad.x[i], last_.net += s.size[i] * grad.size[i];
      last_.net_square += s.square[i] * grad.square[i];
    }
  }
  struct judged_value {
    double value, slack, unit, rest;
  };
  std::vector<judged_value> judge(double least, scan_bounds const& bounds) const {
    constexpr std::int64_t most = 64;
    auto const n = static_cast<std::int64_t>(tokens_.size());
    double const u = bounds.unit * std::sqrt(2.0), relative = bounds.relative + u;
    // Of the states' product behind each token.
    std::vector<double> met(tokens_.size()), met_square(tokens_.size());
    term behind = last_;
    std::vector<judged_value> all(tokens_.size());
    for (std::int64_t t = n; t-- > 0;) {
      auto const at = static_cast<std::size_t>(t);
      met[at] = std::max(0.0, behind.net), met_square[at] = std::max(0.0, behind.net_square);
      behind.value += tokens_[at].value, behind.net += tokens_[at].net;
      behind.net_square += tokens_[at].net_square;
      double size = 0, factors = 0, variance = 0, of_states = 0, of_squares = 0;
      for (auto i = at; i < at + most && i < tokens_.size(); ++i) {
        size += tokens_[i].size, factors += tokens_[i].factors, variance += tokens_[i].variance;
        of_states = std::max(of_states, met[i]), of_squares = std::max(of_squares, met_square[i]);
      }
      double const sizes = size + 2 * of_states;
      all[at] = {behind.value, sizes * relative + factors * least,
                 std::sqrt(variance + u * u * 5 / 3 * of_squares),
                 sizes * bounds.fp32 + factors * least};
    }
    return all;
  }

 private:
  struct term {
    double value, size, factors, net, net_square, variance;
  };
  std::vector<term> tokens_;
  term last_{};
};

inline verdict judge_all(std::vector<std::pair<char const*, judged const*>> const& results) {
  verdict all;
  for (auto const& [name, of] : results) {
    auto const v = of->meter().judge(name, 1.1, 1024);
    if (all.ok()) all.wrong = v.wrong;
    all.compared += v.compared;
    all.share = std::max(all.share, v.share);
  }
  return all;
}

}  // namespace tk::test
