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

// The states of a sequence before each token, asked for from the last token on: each 64th is kept,
// those between are made again. step(state, t) makes S_t of S_(t-1).
template <class Step> class state_history {
 public:
  explicit state_history(Step step) : step_(std::move(step)) {}
  // From the first token on.
  void keep(std::int64_t t, state_sums const& before) {
    if (t % apart == 0) kept_.push_back(before);
  }
  state_sums const& before(std::int64_t t) {
    std::int64_t const block = t / apart, first = block * apart;
    if (block != block_) {
      block_ = block;
      made_.assign(1, kept_[static_cast<std::size_t>(block)]);
      for (std::int64_t i = first; i < t; ++i) {
        made_.push_back(made_.back());
        step_(made_.back(), i);
      }
    }
    return made_[static_cast<std::size_t>(t - first)];
  }

 private:
  static constexpr std::int64_t apart = 64;
  Step step_;
  std::vector<state_sums> kept_, made_;
  std::int64_t block_ = -1;
};

// dlog_decay of one sequence and head: of each token a_t <S_(t-1), D_t>, the sum over all pairs of
// tokens that meet across it. Of up to 64 tokens a kernel takes it from sums that have the same
// pairs twice, once with either sign: `near`, what these tokens meet of those before them, is wrong
// by roundings of fp32.
class decay_sums {
 public:
  explicit decay_sums(std::int64_t n) : tokens_(static_cast<std::size_t>(n)) {}
  // What a token's q meets, with `own`, the size of the term of its own k and v.
  void add(std::int64_t t, double const* q, result_row const& of, double own) {
    auto& x = tokens_[static_cast<std::size_t>(t)];
    for (std::size_t c = 0; c < of.x.size(); ++c) {
      x.near += std::fabs(q[c]) * of.size[c];
      x.factors += std::fabs(q[c]);
    }
    x.near = std::max(0.0, x.near - own);
  }
  // What a token's k, of so many numbers, is weighted by.
  void add(std::int64_t t, double const* k, std::int64_t count) {
    auto& x = tokens_[static_cast<std::size_t>(t)];
    for (std::int64_t c = 0; c < count; ++c) x.factors += std::fabs(k[c]);
  }
  void meet(std::int64_t t, double a, state_sums const& before, state_sums const& grad) {
    auto& x = tokens_[static_cast<std::size_t>(t)];
    for (std::size_t i = 0; i < before.x.size(); ++i) {
      x.value += a * before.x[i] * grad.x[i], x.size += a * before.size[i] * grad.size[i];
      x.square += a * a * before.square[i] * grad.square[i];
    }
  }
  struct judged_value {
    double value, slack, unit, rest;
  };
  std::vector<judged_value> judge(double least, scan_bounds const& bounds) const {
    constexpr std::size_t most = 64;
    double const u = bounds.unit * std::sqrt(2.0);
    std::vector<judged_value> all(tokens_.size());
    for (std::size_t t = 0; t < all.size(); ++t) {
      auto const& x = tokens_[t];
      double near = 0, factors = 0;
      for (auto i = t; i < t + most && i < tokens_.size(); ++i) near += tokens_[i].near;
      for (auto i = t < most ? 0 : t - most; i < t + most && i < tokens_.size(); ++i)
        factors += tokens_[i].factors;
      all[t] = {x.value, x.size * (bounds.relative + u) + near * 0x1p-17 + factors * least,
                u * std::sqrt(x.square), x.size * bounds.fp32 + near * 0x1p-20 + factors * least};
    }
    return all;
  }

 private:
  struct token {
    double value = 0, size = 0, square = 0, near = 0, factors = 0;
  };
  std::vector<token> tokens_;
};

// The size of the product of both dot products of a token's q and k, and of its dout and v.
inline double own_size(double const* q, double const* k, std::int64_t d, double const* dout,
                       double const* v, std::int64_t dv) {
  double keys = 0, values = 0;
  for (std::int64_t c = 0; c < d; ++c) keys += std::fabs(q[c] * k[c]);
  for (std::int64_t c = 0; c < dv; ++c) values += std::fabs(dout[c] * v[c]);
  return keys * values;
}

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
