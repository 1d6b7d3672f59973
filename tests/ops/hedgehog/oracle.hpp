// SPDX-License-Identifier: MIT
// The oracle of Hedgehog attention, token by token in double precision, as hedgehog.h defines it.
// What a kernel rounds, with u the type's unit roundoff: weights p; features of q times alpha and
// features of k; S where it meets a query: in the linear part up to 3 u of the sum of sizes,
// usually 0.41 u of the root of each rounding's squares; the largest p of every row is beta, which
// errs by one and the same up to u. fp32: a product x W or q k errs by (8 + sqrt(128) / 4) 2^-24 of
// its sum of sizes, and exponentials by as much as two of these and 2^-20; sums of n terms by (8 +
// sqrt(n) / 4 + n / 64) 2^-24. Features and weights of fp16 err by 2^-25 at least.
#pragma once
#include <cmath>
#include <mutex>

#include "tests/ops/hedgehog/hedgehog.hpp"
#include "tests/ops/linear_attention/scan_oracle.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

// phi of one token, and a bound on its relative error in fp32.
struct token_features {
  // softmax is phi before the maximum is taken.
  std::vector<double> phi = std::vector<double>(2 * hedgehog_features), softmax = phi;
  double error = 0;
  token_features(double const* x, std::vector<double> const& map) {
    double u[hedgehog_features] = {}, size[hedgehog_features] = {};
    for (std::int64_t d = 0; d < hedgehog_width; ++d)
      for (std::int64_t f = 0; f < hedgehog_features; ++f) {
        double const y = x[d] * map[static_cast<std::size_t>(d * hedgehog_features + f)];
        u[f] += y, size[f] += std::fabs(y);
      }
    for (int const sign : {1, -1}) {
      double top = -HUGE_VAL, sum = 0;
      for (double const y : u) top = std::max(top, sign * y);
      double* const of = phi.data() + (sign > 0 ? 0 : hedgehog_features);
      for (std::int64_t f = 0; f < hedgehog_features; ++f)
        sum += of[f] = std::exp(sign * u[f] - top);
      double* const raw = softmax.data() + (of - phi.data());
      for (std::int64_t f = 0; f < hedgehog_features; ++f)
        of[f] = std::max(raw[f] = of[f] / sum, 1e-6);
    }
    double largest = 0;
    for (double const y : size) largest = std::max(largest, y);
    error = 2 * (8 + std::sqrt(128.) / 4) * fp32_roundoff * largest + 0x1p-20;
  }
};

// One sequence and head.
struct hedgehog_head {
  std::int64_t n, nq;
  double alpha, beta, scale;
  std::vector<double> q, k, v, map_q, map_k;

  hedgehog_head(hedgehog_tensors const& x, hedgehog_span const& at, std::int64_t head)
      : n(at.n), nq(std::min(at.nq, at.n)), scale(x.of.scale) {
    alpha = decode(dtype::fp32, x.alpha.image_row(0) + head * 4);
    beta = decode(dtype::fp32, x.beta.image_row(0) + head * 4);
    std::int64_t const D = hedgehog_width, F = hedgehog_features;
    q.resize(nq * D), k.resize(n * D), v.resize(n * D), map_q.resize(D * F), map_k.resize(D * F);
    auto const read = [&](std::vector<double>& to, std::int64_t t, tensor const& from,
                          std::int64_t row) {
      read_row(x.of.type, from.image_row(row), D, to.data() + t * D);
    };
    for (std::int64_t t = 0; t < n; ++t) {
      std::int64_t const row = x.row(at.batch, tokens(x.of), at.first + t, head);
      read(k, t, x.k, row), read(v, t, x.v, row);
    }
    for (std::int64_t t = 0; t < nq; ++t)
      read(q, t, x.q, x.row(at.batch, queries(x.of), at.first_query + at.nq - nq + t, head));
    for (std::int64_t d = 0; d < D; ++d) {
      read_row(x.of.type, x.map_q.image_row(head * D + d), F, map_q.data() + d * F);
      read_row(x.of.type, x.map_k.image_row(head * D + d), F, map_k.data() + d * F);
    }
  }
};

// Results of one sequence and head, judged as they come.
class hedgehog_judge {
 public:
  explicit hedgehog_judge(hedgehog_operands const& x)
      : of_(&x),
        o_(x.of.type),
        kv_(dtype::fp32),
        k_(dtype::fp32),
        sums_(dtype::fp32),
        u_(format_of(x.of.type).unit_roundoff),
        least_(x.of.type == dtype::fp16 ? 0x1p-25 : 0) {}

  void judge(hedgehog_span const& at, std::int64_t head, std::int64_t state) {
    constexpr std::int64_t D = hedgehog_width;
    hedgehog_head const in(*of_, at, head);
    std::int64_t const past = in.n - in.nq;
    state_sums kv(D, D);
    std::vector<double> z(D);
    if (of_->of.states) {
      kv.begin(of_->initial_kv, state);
      read_row(dtype::fp32, of_->initial_k.image_row(state), D, z.data());
    }
    std::int64_t added = 0;
    double error = 0x1p-20, values = 0;  // of features of k; sum of the largest sizes of v
    auto const add_before = [&](std::int64_t end) {
      for (; added < end; ++added) {
        token_features const f(&in.k[static_cast<std::size_t>(added * D)], in.map_k);
        error = std::max(error, f.error);
        kv.add(1, f.phi.data(), &in.v[static_cast<std::size_t>(added * D)]);
        for (std::size_t i = 0; i < z.size(); ++i) z[i] += f.phi[i];
        values += 1;
      }
    };
    for (std::int64_t t = 0; t < in.nq; ++t) {
      std::int64_t const token = past + t, window = std::max<std::int64_t>(0, token / 64 - 1) * 64;
      add_before(window);
      add_query(in, at, head, t, window, kv, z, error);
    }
    for (std::int64_t t = 0; t < at.nq - in.nq; ++t) {  // queries without a token stay
      if (of_->of.states) add_sum(at, head, t, std::nan(""), 0);
      std::int64_t const row = of_->row(at.batch, queries(of_->of), at.first_query + t, head);
      for (std::int64_t c = 0; c < D; ++c)
        o_.add(row, c, decode(of_->of.type, of_->o.result_row(row) + c * 2), std::nan(""), 0, 0, 0);
    }
    if (!of_->of.states) return;
    add_before(std::max<std::int64_t>(0, in.n / 64 - 1) * 64);
    double const sums = sum_error(static_cast<double>(added)) + error;
    for (std::int64_t f = 0; f < D; ++f) {
      double const exact = z[static_cast<std::size_t>(f)], slack = exact * sums;
      k_.add(state, f, decode(dtype::fp32, of_->final_k.result_row(state) + f * 4), exact, slack, 0,
             slack);
      for (std::int64_t c = 0; c < D; ++c) {
        std::size_t const i = static_cast<std::size_t>(f * D + c);
        double const rest = kv.size[i] * sums + values * least_ + fp32_least_normal;
        kv_.add(state * D + f, c,
                decode(dtype::fp32, of_->final_kv.result_row(state * D + f) + c * 4), kv.x[i],
                kv.size[i] * u_ + rest, 0.41 * u_ * std::sqrt(kv.square[i]), rest);
      }
    }
  }
  void merge(hedgehog_judge const& other) {
    o_.merge(other.o_), kv_.merge(other.kv_), k_.merge(other.k_), sums_.merge(other.sums_);
  }
  verdict judge_all() const {
    verdict all;
    for (auto const& [name, meter] :
         {std::pair{"o", &o_}, {"final_kv", &kv_}, {"final_k", &k_}, {"normaliser", &sums_}}) {
      auto const v = meter->judge(name, 1.1, 1024);
      if (all.ok()) all.wrong = v.wrong;
      all.compared += v.compared;
      all.share = std::max(all.share, v.share);
    }
    return all;
  }

 private:
  static double sum_error(double n) { return (8 + std::sqrt(n) / 4 + n / 64) * fp32_roundoff; }

  void add_query(hedgehog_head const& in, hedgehog_span const& at, std::int64_t head,
                 std::int64_t t, std::int64_t window, state_sums const& kv,
                 std::vector<double> const& z, double error_k) {
    constexpr std::int64_t D = hedgehog_width;
    std::int64_t const token = in.n - in.nq + t;
    double const* const q = &in.q[static_cast<std::size_t>(t * D)];
    token_features const features(q, in.map_q);
    double const error_l = features.error + error_k + sum_error(static_cast<double>(token));
    std::vector<double> x(D), size(D), square(D), own(D), own_square(D);
    double linear = 0, lost = 0;
    for (std::int64_t f = 0; f < D; ++f) {
      double const phi = in.alpha * features.phi[static_cast<std::size_t>(f)];
      linear += phi * z[static_cast<std::size_t>(f)];
      // Of fp16: alpha phi(q), S; phi(k) below.
      lost += least_;
      for (std::int64_t c = 0; c < D; ++c) {
        std::size_t const i = static_cast<std::size_t>(f * D + c), to = static_cast<std::size_t>(c);
        double const y = phi * kv.x[i];
        x[to] += y, size[to] += phi * kv.size[i];
        square[to] += 2 * y * y + phi * phi * kv.square[i];
        own[to] += least_ * std::fabs(kv.x[i]) + phi * least_;
      }
    }
    double const lost_keys = 2 * in.alpha * least_ * static_cast<double>(window);
    // The window.
    std::vector<double> p;
    double top = -HUGE_VAL, largest = 0, sum = linear;
    for (std::int64_t j = window; j <= token; ++j) {
      double s = 0, of_sizes = 0;
      for (std::int64_t d = 0; d < D; ++d) {
        double const y = q[d] * in.k[static_cast<std::size_t>(j * D + d)];
        s += y, of_sizes += std::fabs(y);
      }
      p.push_back(s), top = std::max(top, s), largest = std::max(largest, of_sizes);
    }
    double const error_p =
        in.scale * largest * (2 * (8 + std::sqrt(128.) / 4) + 4) * fp32_roundoff + 0x1p-20 +
        sum_error(128);
    double of_window = 0;
    std::vector<double> window_size(D);
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] = in.beta * std::exp((p[i] - top) * in.scale);
      of_window += p[i];
      double const* const v = &in.v[(static_cast<std::size_t>(window) + i) * D];
      for (std::size_t c = 0; c < x.size(); ++c) {
        double const y = p[i] * v[c];
        x[c] += y, window_size[c] += std::fabs(y), square[c] += (p[i] == in.beta ? 3 : 1) * y * y;
        own[c] += least_ * std::fabs(v[c]);
      }
    }
    sum += of_window + 1e-6;
    double const error_sum = (linear * error_l + of_window * error_p) / sum + 4 * fp32_roundoff;
    std::int64_t const row =
        of_->row(at.batch, queries(of_->of), at.first_query + at.nq - in.nq + t, head);
    if (of_->of.states) add_sum(at, head, at.nq - in.nq + t, sum, sum * error_sum);
    for (std::int64_t c = 0; c < D; ++c) {
      std::size_t const i = static_cast<std::size_t>(c);
      double const exact = x[i] / sum;
      double const rest =
          (size[i] * error_l + window_size[i] * error_p + own[i] + lost_keys) / sum +
          std::fabs(exact) * error_sum + fp32_least_normal;
      double const slack = (3 * u_ * size[i] + u_ * window_size[i]) / sum + rest;
      double const out = rounded(of_->of.type, exact) - exact,
                   inner = 0.41 * u_ * std::sqrt(square[i]) / sum;
      o_.add(row, c, decode(of_->of.type, of_->o.result_row(row) + c * 2), exact, slack,
             std::sqrt(out * out + inner * inner), rest);
    }
  }

  // Of a query of a sequence.
  void add_sum(hedgehog_span const& at, std::int64_t head, std::int64_t t, double exact,
               double slack) {
    std::int64_t const row = at.batch * of_->of.h + head, col = at.first_query + t;
    sums_.add(row, col, decode(dtype::fp32, of_->normaliser.result_row(row) + col * 4), exact,
              slack, 0, slack);
  }

  hedgehog_operands const* of_;
  error_meter o_, kv_, k_, sums_;
  double u_, least_;
};

inline verdict compare(hedgehog_operands const& x) {
  hedgehog_judge all(x);
  std::mutex merging;
  parallel_for(sequences(x.of) * x.of.h, [&](std::int64_t i) {
    std::int64_t const s = i / x.of.h;
    hedgehog_judge mine(x);
    mine.judge(keys_and_queries(x.of, s), i % x.of.h, i);
    std::scoped_lock const lock(merging);
    all.merge(mine);
  });
  auto v = all.judge_all();
  std::int64_t const states = x.of.states ? sequences(x.of) * x.of.h * 128 * 129 : 0,
                     numbers = x.of.states ? 129 : 128,
                     due = (packed(x.of) ? 1 : x.of.b) * queries(x.of) * x.of.h * numbers + states;
  if (v.ok() && v.compared != due) v.wrong = "not every element was compared";
  return v;
}

inline verdict run(hedgehog_case const& x) { return run_scan<hedgehog_operands>(x); }

}  // namespace tk::test
