// SPDX-License-Identifier: MIT
// The oracle of tk_gemm. For each element, in double precision, the exact value and these bounds:
//   sums      u = 2^-24. Tensor cores may cut off instead of rounding, each time 16 products are
//             added: the partial sums of products of either sign grow as sqrt(k), so that the loss
//             adds up to some sqrt(k) / 12 |a row| |b column| u. Rounding, in any order, commits
//             less: about 0.3 |a row| |b column| u whatever k. Three times the former and 4, for
//             the worst of millions: (4 + sqrt(k) / 4) |a row| |b column| u.
//   epilogue  four fp32 roundings of its terms; activations have slopes of at most 1.13 and
//             are computed from fp32 functions to within 16 u of their argument.
//   integers  every step is exact in fp32 (ReLU included): the slack is 0.
#pragma once
#include <cmath>
#include <mutex>
#include <numeric>

#include "tests/support/activate.hpp"
#include "tests/ops/gemm/gemm.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/product.hpp"
#include "tests/support/random.hpp"

namespace tk::test {

// Errors before the rounding add to its own in squares: of 1/11 of the output's spacing, more than
// fp32 sums commit, they make sqrt(1 + 12 / 121) = 1.05.
constexpr double norm_factor = 1.05;

// Of m: enough to meet every tile of 64 rows up to m = 12288.
inline std::int64_t sampled_rows(gemm_case const& x) {
  return x.check == check_kind::some_rows ? std::min<std::int64_t>(x.m, 192) : x.m;
}
inline std::int64_t row_at(gemm_case const& x, std::int64_t i) {
  std::int64_t const count = sampled_rows(x);
  return i == count - 1 ? x.m - 1 : (x.m * i + random_below(x.m, 5, i)) / count;
}

// Row `row` of batch `batch` of a stored matrix, which may be the same for all batches.
inline std::byte const* stored_row(tensor const& x, std::int64_t batch, std::int64_t row) {
  std::int64_t const rows = x.shape[x.shape.size() - 2];
  bool const one = x.shape.size() == 2 || x.shape[0] == 1;
  return x.image_row((one ? 0 : batch * rows) + row);
}

struct right_operand {
  panels values;
  std::vector<double> norms;  // of the columns
};
inline right_operand read_b(gemm_operands const& x, std::int64_t batch) {
  gemm_case const& y = x.of;
  right_operand b{panels(y.k, y.n), std::vector<double>(y.n)};
  std::int64_t const rows = y.transpose_b ? y.n : y.k, cols = y.transpose_b ? y.k : y.n;
  for (std::int64_t r = 0; r < rows; ++r) {
    auto const* p = stored_row(x.b, batch, r);
    for (std::int64_t c = 0; c < cols; ++c) {
      double const v = decode(x.b.type, p + c * bytes_of(x.b.type));
      std::int64_t const l = y.transpose_b ? c : r, j = y.transpose_b ? r : c;
      b.values.at(l, j) = v;
      b.norms[j] += v * v;
    }
  }
  for (auto& v : b.norms) v = std::sqrt(v);
  return b;
}

// The checked rows from, from + 1, ... of op(a).
inline std::vector<double> read_a(gemm_operands const& x, std::int64_t batch, std::int64_t from,
                                  std::int64_t count) {
  gemm_case const& y = x.of;
  std::vector<double> a(count * y.k);
  if (y.transpose_a) {
    for (std::int64_t l = 0; l < y.k; ++l) {
      auto const* p = stored_row(x.a, batch, l);
      for (std::int64_t i = 0; i < count; ++i)
        a[i * y.k + l] = decode(y.in, p + row_at(y, from + i) * bytes_of(y.in));
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      read_row(y.in, stored_row(x.a, batch, row_at(y, from + i)), y.k, a.data() + i * y.k);
  }
  return a;
}

// One row of results, given that row's sums.
class row_judge {
 public:
  row_judge(gemm_operands const& x, std::int64_t batch, std::int64_t row, double norm)
      : x_(x), y_(x.of), batch_(batch), row_(row) {
    bool const smooth = y_.activation != TK_ACTIVATION_NONE && y_.activation != TK_ACTIVATION_RELU;
    exact_ = y_.values != data::reals && !smooth;
    double const steps = 4 + std::sqrt(static_cast<double>(y_.k)) / 4;
    alpha_ = y_.k > 0 ? y_.alpha : 1;  // there is no product for it
    sum_slack_ = std::fabs(alpha_) * steps * fp32_roundoff * norm;
    slope_ = smooth ? 1.13 : 1;
    argument_slack_ = smooth ? 16 * fp32_roundoff : 0;
    auto const at = batch * y_.m + row;
    got_ = x.d.result_row(x.d.shape.size() == 2 ? row : at);
    if (y_.beta != 0) c_ = stored_row(x.c, batch, row);
  }

  void judge(double const* sums, std::vector<double> const& b_norms, error_meter& meter) const {
    for (std::int64_t j = 0; j < y_.n; ++j) {
      double const product = alpha_ * sums[j];
      double const added = c_ ? y_.beta * decode(y_.out, c_ + j * bytes_of(y_.out)) : 0;
      double const bias = bias_at(j), argument = product + added + bias;
      double const exact = activate(y_.activation, argument);
      double slack = 0;
      if (!exact_ && std::isfinite(argument))
        slack = slope_ * (sum_slack_ * b_norms[j] +
                          4 * fp32_roundoff *
                              (std::fabs(product) + std::fabs(added) + std::fabs(bias))) +
                argument_slack_ * std::fabs(argument) + fp32_least_normal;
      meter.add(batch_ * y_.m + row_, j, decode(y_.out, got_ + j * bytes_of(y_.out)), exact, slack,
                rounded(y_.out, exact) - exact, slack);
    }
  }

 private:
  double bias_at(std::int64_t col) const {
    if (y_.bias == TK_BIAS_NONE) return 0;
    std::int64_t const i = y_.bias == TK_BIAS_ROW ? col : row_;
    return decode(y_.bias_type, x_.bias.image_row(0) + i * bytes_of(y_.bias_type));
  }

  gemm_operands const& x_;
  gemm_case const& y_;
  std::int64_t batch_, row_;
  bool exact_;
  double alpha_, sum_slack_, slope_, argument_slack_;
  std::byte const* got_;
  std::byte const* c_ = nullptr;
};

// f(from, count, meter) for each stretch of the checked rows.
template <class F> void for_rows(gemm_case const& y, error_meter& total, F const& f) {
  constexpr std::int64_t at_once = 32;
  std::int64_t const rows = sampled_rows(y);
  std::mutex merging;
  parallel_for((rows + at_once - 1) / at_once, [&](std::int64_t stretch) {
    error_meter meter(total.type());
    f(stretch * at_once, std::min(at_once, rows - stretch * at_once), meter);
    std::scoped_lock const lock(merging);
    total.merge(meter);
  });
}

inline void compare_batch(gemm_operands const& x, std::int64_t batch, error_meter& total) {
  gemm_case const& y = x.of;
  auto const b = read_b(x, batch);
  std::int64_t const ldc = panels::padded(y.n);
  for_rows(y, total, [&](std::int64_t from, std::int64_t count, error_meter& meter) {
    auto const a = read_a(x, batch, from, count);
    std::vector<double> sums(count * ldc);
    b.values.multiply(sums.data(), a.data(), y.k, count, y.k);
    for (std::int64_t i = 0; i < count; ++i) {
      double const* const row = a.data() + i * y.k;
      double const norm = std::sqrt(std::inner_product(row, row + y.k, row, 0.0));
      row_judge(x, batch, row_at(y, from + i), norm).judge(sums.data() + i * ldc, b.norms, meter);
    }
  });
}

// Integers x with 1 <= |x| <= 512: a wrong element changes its row's sum.
inline std::vector<double> probe(std::int64_t n) {
  std::vector<double> x(n);
  for (std::int64_t j = 0; j < n; ++j)
    x[j] = (1 + random_below(512, 6, j)) * (random_bits(7, j) & 1 ? 1.0 : -1.0);
  return x;
}

// op(b) times the probe.
inline std::vector<double> multiply_b(gemm_operands const& x, std::int64_t batch,
                                      std::vector<double> const& probe) {
  gemm_case const& y = x.of;
  constexpr std::int64_t at_once = 256;
  std::vector<double> sums(y.k);
  parallel_for((y.k + at_once - 1) / at_once, [&](std::int64_t stretch) {
    std::int64_t const from = stretch * at_once, to = std::min(y.k, from + at_once);
    for (std::int64_t i = 0; i < (y.transpose_b ? y.n : to - from); ++i) {
      auto const* p = stored_row(x.b, batch, y.transpose_b ? i : from + i);
      if (y.transpose_b) {
        double const v = probe[i];
        for (std::int64_t l = from; l < to; ++l)
          sums[l] += v * decode(y.in, p + l * bytes_of(y.in));
      } else {
        for (std::int64_t j = 0; j < y.n; ++j)
          sums[from + i] += probe[j] * decode(y.in, p + j * bytes_of(y.in));
      }
    }
  });
  return sums;
}

// d x against a (b x), row by row; all sums are integers below 2^53. Wants alpha 1, no epilogue,
// and results that the output's type holds.
inline void probe_batch(gemm_operands const& x, std::int64_t batch, error_meter& total) {
  gemm_case const& y = x.of;
  auto const probe_x = probe(y.n), b = multiply_b(x, batch, probe_x);
  for_rows(y, total, [&](std::int64_t from, std::int64_t count, error_meter& meter) {
    auto const a = read_a(x, batch, from, count);
    for (std::int64_t i = 0; i < count; ++i) {
      double const want = std::inner_product(b.begin(), b.end(), a.data() + i * y.k, 0.0);
      std::int64_t const row = from + i;
      auto const* p = x.d.result_row(x.d.shape.size() == 2 ? row : batch * y.m + row);
      double got = 0;
      for (std::int64_t j = 0; j < y.n; ++j) {
        double const v = decode(y.out, p + j * bytes_of(y.out));
        got += v == std::rint(v) ? probe_x[j] * v : std::nan("");
      }
      meter.add(batch * y.m + row, -1, got - want, 0, 0, 0, 0);
    }
  });
}

inline verdict compare(gemm_operands const& x) {
  gemm_case const& y = x.of;
  bool const probed = y.check == check_kind::probe;
  error_meter total(probed ? dtype::fp32 : y.out);
  for (std::int64_t batch = 0; batch < y.batch; ++batch)
    if (probed) probe_batch(x, batch, total);
    else compare_batch(x, batch, total);
  bool const exact = probed || y.values != data::reals;
  auto v = total.judge("d", norm_factor, exact ? INT64_MAX : 64);
  std::int64_t const expected = y.batch * (probed ? y.m : sampled_rows(y) * y.n);
  if (v.ok() && v.compared != expected)
    v.wrong = "compared " + std::to_string(v.compared) + " elements of " + std::to_string(expected);
  return v;
}

inline verdict run(gemm_case const& x) {
  gemm_operands operands(x);
  verdict v;
  v.wrong = launch_twice(operands);
  if (!v.ok()) return v;
  v = compare(operands);
  if (v.ok()) v.wrong = check_untouched(operands.memories, {operands.d});
  return v;
}

}  // namespace tk::test
