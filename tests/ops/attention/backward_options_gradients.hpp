// SPDX-License-Identifier: MIT
// Gradients of attention with options for the oracle of tk_attention_backward, in double precision.
// With t the scaled score behind the softcap c, z = 0 where a weight is dropped and else 1 / kept:
//   p = exp(score - lse), dt = p (z dp - delta), ds = dt (1 - (t / c)^2)
//   dv = (z p)^T dout, dk = scale ds^T q, dq = scale ds k, dbias = dt, dsink = -exp(sink - lse)
//   delta
// Bounds are those of backward_gradients.hpp and options_oracle.hpp; that of the softcap's slope is
// 2 |t / c| times the error of t / c, its square, and 4 u.
#pragma once
#include <cmath>
#include <vector>

#include "tests/ops/attention/backward_gradients.hpp"
#include "tests/ops/attention/options_oracle.hpp"

namespace tk::test {

// One query head of a sequence; o and lse as the op is given them.
struct option_head {
  option_case y;
  span of;
  std::int64_t s, head;
  std::vector<double> q, dout, k, v;  // [nq, d], [nq, dv], [nk, d], [nk, dv]
  head_terms terms;
  double sink = -HUGE_VAL;
  std::vector<double> o, lse;  // [nq, dv], [nq]

  double const* row(std::vector<double> const& x, std::int64_t i, std::int64_t d) const {
    return x.data() + i * d;
  }
  double factor_of(std::int64_t i, std::int64_t j) const {
    unsigned const below = drop_below(y);
    if (below == 0) return 1;
    return random_byte(y, s, head, i, j) < below ? 0 : 256.0 / (256 - below);
  }
};

struct dot_product {
  double sum = 0, a = 0, b = 0;  // and the norms
  dot_product(double const* x, double const* w, std::int64_t n) {
    for (std::int64_t c = 0; c < n; ++c) sum += x[c] * w[c], a += x[c] * x[c], b += w[c] * w[c];
    a = std::sqrt(a), b = std::sqrt(b);
  }
};

inline bounded_score capped_score(option_head const& x, std::int64_t i, std::int64_t j) {
  dot_product const s(x.row(x.q, i, x.y.d), x.row(x.k, j, x.y.d), x.y.d);
  return capped_score(x.y, s.sum, s.a * s.b);
}

// lse, and o where it is not null, of one row.
inline double forward_row(option_head const& x, std::int64_t i, double* o) {
  auto const& y = x.y;
  std::vector<double> score(static_cast<std::size_t>(x.of.nk), -HUGE_VAL);
  double top = x.sink, sum = 0;
  for (std::int64_t j = 0; j < x.of.nk; ++j) {
    if (sees(y, x.of, i, j)) score[j] = add_terms(capped_score(x, i, j), x.terms, x.of, i, j).value;
    top = std::max(top, score[j]);
  }
  std::fill_n(o, y.dv, 0.0);
  if (top == -HUGE_VAL) return top;
  sum = std::exp(x.sink - top);
  for (std::int64_t j = 0; j < x.of.nk; ++j) {
    double const p = std::exp(score[j] - top);
    sum += p;
    if (p == 0) continue;
    double const weight = p * x.factor_of(i, j);
    for (std::int64_t c = 0; c < y.dv; ++c) o[c] += weight * x.v[j * y.dv + c];
  }
  for (std::int64_t c = 0; c < y.dv; ++c) o[c] /= sum;
  return top + std::log(sum);
}

// One element of z p, dt and ds, with their errors in fp32.
struct option_pair {
  double p = 0, p_error = 0, dt = 0, dt_error = 0, ds = 0, ds_error = 0;
};

class option_pairs {
 public:
  explicit option_pairs(option_head const& x) : x_(x) {
    for (std::int64_t i = 0; i < x.of.nq; ++i) {
      dot_product const delta(x.row(x.o, i, x.y.dv), x.row(x.dout, i, x.y.dv), x.y.dv);
      delta_.push_back(delta.sum);
      delta_norm_.push_back(delta.a * delta.b);
    }
  }
  double delta(std::int64_t i) const { return delta_[i]; }
  double delta_error(std::int64_t i) const { return steps() * u * delta_norm_[i]; }

  option_pair at(std::int64_t i, std::int64_t j) const {
    option_pair y;
    double const lse = x_.lse[i];
    if (!sees(x_.y, x_.of, i, j) || lse == -HUGE_VAL) return y;
    auto const capped = capped_score(x_, i, j), score = add_terms(capped, x_.terms, x_.of, i, j);
    if (score.value == -HUGE_VAL) return y;
    double const argument =
        score.error + 4 * u * (std::fabs(score.value) + std::fabs(lse)) + 0x1p-21;
    double const p = std::exp(score.value - lse),
                 p_error = p * std::expm1(argument) + fp32_least_normal;
    double const z = x_.factor_of(i, j);
    y.p = z * p, y.p_error = z * p_error + 2 * u * y.p;
    dot_product const product(x_.row(x_.dout, i, x_.y.dv), x_.row(x_.v, j, x_.y.dv), x_.y.dv);
    double const dp = z * product.sum, difference = dp - delta_[i];
    double const others = steps() * u * z * product.a * product.b + delta_error(i) +
                          2 * u * (std::fabs(dp) + std::fabs(delta_[i]));
    y.dt = p * difference;
    y.dt_error = p_error * std::fabs(difference) + (p + p_error) * others +
                 2 * u * std::fabs(y.dt) + fp32_least_normal;
    double slope = 1, slope_error = 0;
    if (double const c = x_.y.softcap; c != 0) {
      double const share = capped.value / c, error = capped.error / c + 4 * u * std::fabs(share);
      slope = 1 - share * share;
      slope_error = 2 * std::fabs(share) * error + error * error + 4 * u;
    }
    y.ds = y.dt * slope;
    y.ds_error = y.dt_error * (slope + slope_error) + std::fabs(y.dt) * slope_error +
                 2 * u * std::fabs(y.ds) + fp32_least_normal;
    return y;
  }

 private:
  static constexpr double u = fp32_roundoff;
  double steps() const { return 4 + static_cast<double>(x_.y.dv) / 16; }

  option_head const& x_;
  std::vector<double> delta_, delta_norm_;
};

// Sums of terms times rows of numbers, as they are and with the terms rounded.
class gradient_sum {
 public:
  explicit gradient_sum(std::int64_t d)
      : exact_(static_cast<std::size_t>(d)), same_(exact_), high_(exact_) {}
  void add(dtype type, double term, double error, double const* by) {
    errors_.add(type, term, error);
    for (std::size_t c = 0; c < exact_.size(); ++c) {
      exact_[c] += term * by[c], same_[c] += rounded(type, term) * by[c];
      high_[c] = std::max(high_[c], std::fabs(by[c]));
    }
  }
  // put(row, col, exact, slack, unit, rest), as put_row has it.
  template <class Put>
  void put_all(dtype type, std::int64_t row, double factor, Put const& put) const {
    put_row(type, row, high_, exact_.data(), same_.data(), factor, errors_, put);
  }

 private:
  std::vector<double> exact_, same_, high_;
  gradient_errors errors_;
};

// A sum of fp32 numbers that is rounded once.
struct plain_sum {
  double value = 0, error = 0, magnitude = 0;
  std::int64_t terms = 0;
  void add(double x, double e) {
    value += x, error += e, magnitude += std::fabs(x);
    ++terms;
  }
  void add(plain_sum const& x) {
    value += x.value, error += x.error, magnitude += x.magnitude;
    terms += x.terms;
  }
  double slack() const {
    return error + (4 + static_cast<double>(terms) / 16) * fp32_roundoff * magnitude +
           fp32_least_normal;
  }
};

// All gradients of a key head of a sequence, from the query heads that read it.
struct option_gradients {
  std::vector<std::vector<gradient_sum>> dq;  // of each query head and row
  std::vector<gradient_sum> dk, dv;           // of each key
  std::vector<std::vector<plain_sum>> dbias;  // of each query head, [nq, nk]
  std::vector<plain_sum> dsink;               // of each query head

  explicit option_gradients(std::vector<option_head> const& heads) {
    auto const& y = heads.at(0).y;
    auto const of = heads[0].of;
    dk.assign(static_cast<std::size_t>(of.nk), gradient_sum(y.d));
    dv.assign(static_cast<std::size_t>(of.nk), gradient_sum(y.dv));
    for (auto const& head : heads) {
      option_pairs const pairs(head);
      auto& rows = dq.emplace_back(static_cast<std::size_t>(of.nq), gradient_sum(y.d));
      auto& bias = dbias.emplace_back(static_cast<std::size_t>(of.nq * of.nk));
      auto& sink = dsink.emplace_back();
      for (std::int64_t i = 0; i < of.nq; ++i) {
        for (std::int64_t j = 0; j < of.nk; ++j) {
          auto const x = pairs.at(i, j);
          rows[i].add(y.type, x.ds, x.ds_error, head.row(head.k, j, y.d));
          dk[j].add(y.type, x.ds, x.ds_error, head.row(head.q, i, y.d));
          dv[j].add(y.type, x.p, x.p_error, head.row(head.dout, i, y.dv));
          bias[i * of.nk + j].add(x.dt, x.dt_error);
        }
        if (head.sink == -HUGE_VAL) continue;
        double const weight = std::exp(head.sink - head.lse[i]);
        double const argument =
            4 * fp32_roundoff * (std::fabs(head.sink) + std::fabs(head.lse[i])) + 0x1p-21;
        sink.add(
            -weight * pairs.delta(i),
            weight * (std::expm1(argument) * std::fabs(pairs.delta(i)) + 2 * pairs.delta_error(i)));
      }
    }
  }
};

}  // namespace tk::test
