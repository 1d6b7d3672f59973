// SPDX-License-Identifier: MIT
// Gradients of attention for the oracle of tk_attention_backward, in double precision, from the o
// and lse that the op is given:
//   p = exp(s - lse), s = scale q k^T, delta = sum o dout, ds = p (dout v^T - delta)
//   dv = p^T dout, dk = scale ds^T q, dq = scale ds k
// with these bounds, u = 2^-24, w the type's unit roundoff:
//   p         its error e is p times that of exp's argument: scores as in the forward's oracle, 4 u
//             of s and lse (lse log2(e), the subtraction), and exp2's 2^-21. p and ds may be
//             flushed to 0.
//   ds        e |dp - delta|, and p times the errors of dp and delta, products as in GEMM's oracle
//   fp32      a sum of n terms: the errors of its terms, and (4 + n / 16) u of their magnitudes
//   rounding  p and ds to 16 bits: w of each, in fp16 at least 2^-25, independent of each other: 4
//             times the root of their squares, 10 standard deviations and more; never above their
//             sum. And w of the result, because equal weights have equal errors.
// each times the largest number that it is multiplied with in its column. p and ds are rounded here
// as there, so that the norms agree but for a few of them: factor 1.1, and chance, 6 /
// sqrt(elements).
#pragma once
#include <cmath>
#include <vector>

#include "tests/ops/attention/attention_forward.hpp"
#include "tests/support/product.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {

constexpr std::int64_t gradient_rows_at_once = 8;

// The rows of one head: queries with their dout, or keys with their values.
struct gradient_side {
  gradient_side(std::int64_t n, std::int64_t d, std::int64_t dv)
      : n(n),
        d(d),
        dv(dv),
        left(n * d),
        right(n * dv),
        left_t(d, n),
        right_t(dv, n),
        left_p(n, d),
        right_p(n, dv),
        left_norm(n),
        right_norm(n),
        high_left(d),
        high_right(dv) {}

  // Once left and right are filled.
  void pack() {
    auto const side = [&](std::vector<double> const& x, std::int64_t cols, panels& transposed,
                          panels& plain, std::vector<double>& norm, std::vector<double>& high) {
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t c = 0; c < cols; ++c) {
          double const v = x[i * cols + c];
          transposed.at(c, i) = plain.at(i, c) = v;
          norm[i] += v * v;
          high[c] = std::max(high[c], std::fabs(v));
        }
      for (double& v : norm) v = std::sqrt(v);
    };
    side(left, d, left_t, left_p, left_norm, high_left);
    side(right, dv, right_t, right_p, right_norm, high_right);
  }

  std::int64_t n, d, dv;
  std::vector<double> left, right;          // [n, d], [n, dv]
  panels left_t, right_t, left_p, right_p;  // and transposed
  std::vector<double> left_norm, right_norm, high_left, high_right;
};

// Of each query, what the softmax and o say.
struct gradient_rows {
  std::vector<double> lse, delta, o_norm;
};

// One element of p and of ds, with their errors in fp32.
struct gradient_pair {
  double p = 0, p_error = 0, ds = 0, ds_error = 0;
};

class gradient_of_pairs {
 public:
  gradient_of_pairs(attention_case const& y, gradient_side const& q, gradient_rows const& rows,
                    gradient_side const& k)
      : y_(y), q_(q), rows_(rows), k_(k), scale_(scale_of(y)) {}

  gradient_pair at(std::int64_t i, std::int64_t j, double product, double dp) const {
    gradient_pair x;
    double const lse = rows_.lse[i];
    if (j >= keys_seen(y_, i) || lse == -HUGE_VAL) return x;
    constexpr double u = fp32_roundoff;
    double const s = scale_ * product, delta = rows_.delta[i], difference = dp - delta;
    double const steps_d = 4 + static_cast<double>(y_.d) / 16;
    double const steps_dv = 4 + static_cast<double>(y_.dv) / 16;
    double const argument = steps_d * u * std::fabs(scale_) * q_.left_norm[i] * k_.left_norm[j] +
                            4 * u * (std::fabs(s) + std::fabs(lse)) + 0x1p-21;
    x.p = std::exp(s - lse);
    x.p_error = x.p * std::expm1(argument) + fp32_least_normal;
    double const others = steps_dv * u * q_.right_norm[i] * (k_.right_norm[j] + rows_.o_norm[i]) +
                          u * (std::fabs(dp) + std::fabs(delta));
    x.ds = x.p * difference;
    x.ds_error = x.p_error * std::fabs(difference) + (x.p + x.p_error) * others +
                 2 * u * std::fabs(x.ds) + fp32_least_normal;
    return x;
  }

 private:
  attention_case const& y_;
  gradient_side const& q_;
  gradient_rows const& rows_;
  gradient_side const& k_;
  double scale_;
};

// What the terms of one row of a product commit.
struct gradient_errors {
  double fp32 = 0, squares = 0, linear = 0, magnitude = 0;
  std::int64_t terms = 0;

  void add(dtype type, double x, double error) {
    double const least = type == dtype::fp16 ? 0x1p-25 : 0;
    double const rounding = std::max(format_of(type).unit_roundoff * std::fabs(x), least);
    if (x == 0 && error == 0) return;
    ++terms;
    fp32 += error;
    squares += rounding * rounding;
    linear += rounding;
    magnitude += std::fabs(x);
  }
  double in_fp32() const {
    if (terms == 0) return 0;
    return fp32 + (4 + static_cast<double>(terms) / 16) * fp32_roundoff * magnitude +
           fp32_least_normal;
  }
  double of_rounding() const { return std::min(4 * std::sqrt(squares), linear); }
};

// put(row, col, exact, slack, unit, rest) for each element of `factor` times x, of which `same` is
// what rounded terms give.
template <class Put>
void put_row(dtype type, std::int64_t row, std::vector<double> const& high, double const* x,
             double const* same, double factor, gradient_errors const& e, Put const& put) {
  double const unit = format_of(type).unit_roundoff, size = std::fabs(factor);
  for (std::size_t c = 0; c < high.size(); ++c) {
    double const exact = factor * x[c], fp32 = size * e.in_fp32() * high[c];
    double const slack = fp32 + size * e.of_rounding() * high[c] + unit * std::fabs(exact);
    put(row, static_cast<std::int64_t>(c), exact, slack, rounded(type, factor * same[c]) - exact,
        fp32);
  }
}

// dq of some queries of one head.
template <class Put>
void gradient_of_queries(attention_case const& y, gradient_side const& q, gradient_rows const& rows,
                         gradient_side const& k, std::vector<std::int64_t> const& which,
                         Put const& put) {
  auto const count = static_cast<std::int64_t>(which.size());
  std::int64_t const ld = panels::padded(k.n), ldo = panels::padded(y.d);
  std::vector<double> left(count * y.d), right(count * y.dv), s(count * ld), dp(count * ld),
      ds(2 * count * ld), out(2 * count * ldo);
  for (std::int64_t i = 0; i < count; ++i) {
    std::copy_n(q.left.data() + which[i] * y.d, y.d, left.data() + i * y.d);
    std::copy_n(q.right.data() + which[i] * y.dv, y.dv, right.data() + i * y.dv);
  }
  k.left_t.multiply(s.data(), left.data(), y.d, count, y.d);
  k.right_t.multiply(dp.data(), right.data(), y.dv, count, y.dv);
  gradient_of_pairs const pairs(y, q, rows, k);
  std::vector<gradient_errors> errors(count);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < k.n; ++j) {
      auto const x = pairs.at(which[i], j, s[i * ld + j], dp[i * ld + j]);
      ds[i * ld + j] = x.ds;
      ds[(count + i) * ld + j] = rounded(y.type, x.ds);
      errors[i].add(y.type, x.ds, x.ds_error);
    }
  k.left_p.multiply(out.data(), ds.data(), ld, 2 * count, k.n);
  for (std::int64_t i = 0; i < count; ++i)
    put_row(y.type, which[i], k.high_left, out.data() + i * ldo, out.data() + (count + i) * ldo,
            scale_of(y), errors[i], put);
}

// A query head as its keys see it.
struct gradient_head {
  gradient_side q;
  gradient_rows rows;
};

// dk and dv of some keys, from all heads that read them.
template <class PutK, class PutV>
void gradient_of_keys(attention_case const& y, std::vector<gradient_head> const& heads,
                      gradient_side const& k, std::vector<std::int64_t> const& which,
                      PutK const& put_dk, PutV const& put_dv) {
  auto const count = static_cast<std::int64_t>(which.size());
  std::int64_t const ld = panels::padded(y.nq), ldk = panels::padded(y.d),
                     ldv = panels::padded(y.dv);
  std::vector<double> left(count * y.d), right(count * y.dv), s(count * ld), dp(count * ld),
      p(2 * count * ld), ds(2 * count * ld), dk(2 * count * ldk), dv(2 * count * ldv), part;
  for (std::int64_t j = 0; j < count; ++j) {
    std::copy_n(k.left.data() + which[j] * y.d, y.d, left.data() + j * y.d);
    std::copy_n(k.right.data() + which[j] * y.dv, y.dv, right.data() + j * y.dv);
  }
  std::vector<gradient_errors> of_p(count), of_ds(count);
  std::vector<double> high_q(y.d), high_dout(y.dv);
  auto const add = [&](std::vector<double>& to, panels const& by, std::vector<double> const& x) {
    part.assign(to.size(), 0);
    by.multiply(part.data(), x.data(), ld, 2 * count, y.nq);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += part[i];
  };
  for (auto const& head : heads) {
    head.q.left_t.multiply(s.data(), left.data(), y.d, count, y.d);
    head.q.right_t.multiply(dp.data(), right.data(), y.dv, count, y.dv);
    gradient_of_pairs const pairs(y, head.q, head.rows, k);
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t i = 0; i < y.nq; ++i) {
        auto const x = pairs.at(i, which[j], s[j * ld + i], dp[j * ld + i]);
        p[j * ld + i] = x.p;
        p[(count + j) * ld + i] = rounded(y.type, x.p);
        ds[j * ld + i] = x.ds;
        ds[(count + j) * ld + i] = rounded(y.type, x.ds);
        of_p[j].add(y.type, x.p, x.p_error);
        of_ds[j].add(y.type, x.ds, x.ds_error);
      }
    add(dk, head.q.left_p, ds);
    add(dv, head.q.right_p, p);
    for (std::int64_t c = 0; c < y.d; ++c) high_q[c] = std::max(high_q[c], head.q.high_left[c]);
    for (std::int64_t c = 0; c < y.dv; ++c)
      high_dout[c] = std::max(high_dout[c], head.q.high_right[c]);
  }
  for (std::int64_t j = 0; j < count; ++j) {
    put_row(y.type, which[j], high_q, dk.data() + j * ldk, dk.data() + (count + j) * ldk,
            scale_of(y), of_ds[j], put_dk);
    put_row(y.type, which[j], high_dout, dv.data() + j * ldv, dv.data() + (count + j) * ldv, 1,
            of_p[j], put_dv);
  }
}

}  // namespace tk::test
