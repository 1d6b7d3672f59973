// SPDX-License-Identifier: MIT
// One case of tk_norm, and its oracle: the sum, the mean and the variance in double precision. With
// u = 2^-24, what fp32 may commit:
//   r      one addition: u |r|
//   mean   sums of a row in any of the orders in use, some hundred terms in a row at most: 16 u of
//          the mean of |r|, and the same in every difference from it
//   scale  the sum of squares 16 u, the differences' own errors, rsqrt 4 u
//   y      four roundings
#pragma once
#include <mutex>

#include "ops/norm/norm.h"
#include "tests/support/matrix.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {

enum class scale_use { none, same_type, fp32 };
enum class norm_place { apart, on_x, on_residual };

struct norm_case {
  std::int64_t rows, width;
  tk_norm_kind kind = TK_NORM_LAYER;
  dtype type = dtype::bf16;
  bool residual = false, store_r = false, weight = true, bias = true;
  scale_use scale = scale_use::same_type;
  norm_place y_place = norm_place::apart, r_place = norm_place::apart;
  double mean = 0, size = 1;  // of x's elements: uniform in mean +- size
  float eps = 1e-5f;
  matrix_layout x_layout = {}, residual_layout = {}, y_layout = {}, r_layout = {};
  int weight_misalignment = 0, bias_misalignment = 0;
};

inline std::string describe(norm_case const& x) {
  static char const* const places[] = {"", " on x", " on residual"};
  std::ostringstream s;
  s << (x.kind == TK_NORM_RMS ? "rms" : "layer") << " norm " << x.rows << "x" << x.width << " "
    << name_of(x.type) << (x.residual ? " +residual" : "") << (x.store_r ? " r" : "")
    << places[static_cast<int>(x.r_place)] << " y" << places[static_cast<int>(x.y_place)]
    << (x.weight ? " weight" : "") << (x.bias ? " bias" : "")
    << (x.scale == scale_use::fp32 ? " fp32" : "") << " mean " << x.mean << " size " << x.size
    << " eps " << x.eps;
  describe(s, "x", x.x_layout);
  describe(s, "residual", x.residual_layout);
  describe(s, "y", x.y_layout);
  describe(s, "r", x.r_layout);
  return s.str();
}

struct norm_operands {
  explicit norm_operands(norm_case const& x);
  norm_operands(norm_operands const&) = delete;

  norm_case of;
  world memories;
  tensor x, residual, weight, bias, y, r;
};

// Uniform in mean +- size, rounded.
inline void fill_rows(tensor& x, std::uint64_t seed, double mean, double size) {
  parallel_for(x.rows(), [&](std::int64_t r) {
    std::byte* p = x.image_row(r);
    auto const at = static_cast<std::uint64_t>(x.row_offset(r));
    for (std::int64_t c = 0; c < x.cols(); ++c, p += bytes_of(x.type))
      encode(x.type,
             rounded(x.type, mean + size * random_unit(seed, at + static_cast<std::uint64_t>(c))),
             p);
  });
}

inline norm_operands::norm_operands(norm_case const& c) : of(c), memories(3) {
  auto const make = [&](matrix_layout how, role use) {
    how.batch = matrix_layout::batches::none;
    return place(memories, c.type, 0, c.rows, c.width, how, use);
  };
  auto const on = [&](norm_place where) {
    return c.y_place == where || (c.store_r && c.r_place == where) ? role::output : role::input;
  };
  x = make(c.x_layout, on(norm_place::on_x));
  fill_rows(x, 21, c.mean, c.size);
  if (c.residual) {
    residual = make(c.residual_layout, on(norm_place::on_residual));
    fill_rows(residual, 22, 0, c.size);
  }
  auto const output = [&](norm_place where, matrix_layout const& how) {
    if (where == norm_place::on_x) return x;
    if (where == norm_place::on_residual) return residual;
    tensor out = make(how, role::output);
    fill(out, data::nans, 0);
    return out;
  };
  y = output(c.y_place, c.y_layout);
  if (c.store_r) r = output(c.r_place, c.r_layout);
  dtype const type = c.scale == scale_use::fp32 ? dtype::fp32 : c.type;
  auto const row = [&](std::uint64_t seed, double mean, int misalignment) {
    tensor t = memories.make(type, {c.width}, {1}, role::input, misalignment);
    fill_rows(t, seed, mean, 0.5);
    return t;
  };
  if (c.weight) weight = row(23, 1, c.weight_misalignment);
  if (c.bias) bias = row(24, 0, c.bias_misalignment);
}

template <class Body> std::string with_problem(norm_operands const& x, Body const& body) {
  auto const dl = [](tensor const& t) { return t.in ? t.dl() : DLTensor{}; };
  DLTensor const tensors[] = {dl(x.x), dl(x.residual), dl(x.weight), dl(x.bias), dl(x.y), dl(x.r)};
  auto const given = [&](tensor const& t, int i) { return t.in ? tensors + i : nullptr; };
  tk_norm_problem p{};
  p.size = sizeof p;
  p.x = tensors;
  p.residual = given(x.residual, 1);
  p.weight = given(x.weight, 2);
  p.bias = given(x.bias, 3);
  p.y = tensors + 4;
  p.r = given(x.r, 5);
  p.kind = x.of.kind;
  p.eps = x.of.eps;
  return body(called_op{TK_OP_NORM, tk_norm}, static_cast<tk_norm_problem const*>(&p));
}

inline void compare_row(norm_operands const& x, std::int64_t row, error_meter& ys,
                        error_meter& rs) {
  norm_case const& c = x.of;
  auto const n = static_cast<std::size_t>(c.width);
  double const u = fp32_roundoff, width = static_cast<double>(c.width);
  std::vector<double> s(n), other(n), weight(n, 1), bias(n, 0);
  read_row(c.type, x.x.image_row(row), c.width, s.data());
  if (c.residual) {
    read_row(c.type, x.residual.image_row(row), c.width, other.data());
    for (std::size_t i = 0; i < n; ++i) s[i] += other[i];
  }
  if (c.weight) read_row(x.weight.type, x.weight.image_row(0), c.width, weight.data());
  if (c.bias) read_row(x.bias.type, x.bias.image_row(0), c.width, bias.data());
  double mean = 0, magnitude = 0, var = 0, errors = 0;
  for (double const v : s) mean += v / width, magnitude += std::fabs(v) / width;
  bool const layer = c.kind == TK_NORM_LAYER;
  if (!layer) mean = 0;
  double const mean_slack = layer ? 16 * u * magnitude : 0;
  for (double const v : s) {
    var += (v - mean) * (v - mean) / width;
    double const e = mean_slack + u * std::fabs(v);
    errors += e * e / width;
  }
  double const root = std::sqrt(var + static_cast<double>(c.eps)), scale = 1 / root;
  double const scale_slack = 14 * u + std::sqrt(errors) / root;
  for (std::size_t i = 0; i < n; ++i) {
    auto const col = static_cast<std::int64_t>(i);
    double const d = s[i] - mean, part = weight[i] * d * scale, exact = part + bias[i];
    double const slack =
        std::fabs(weight[i]) * scale * (mean_slack + u * std::fabs(s[i]) + u * std::fabs(d)) +
        std::fabs(part) * (scale_slack + 4 * u) + 2 * u * (std::fabs(bias[i]) + std::fabs(exact)) +
        fp32_least_normal;
    ys.add(row, col, decode(c.type, x.y.result_row(row) + col * bytes_of(c.type)), exact, slack,
           rounded(c.type, exact) - exact, slack);
    if (!c.store_r) continue;
    double const r_slack = u * std::fabs(s[i]) + fp32_least_normal;
    rs.add(row, col, decode(c.type, x.r.result_row(row) + col * bytes_of(c.type)), s[i], r_slack,
           rounded(c.type, s[i]) - s[i], r_slack);
  }
}

inline verdict compare(norm_operands const& x) {
  error_meter ys(x.of.type), rs(x.of.type);
  std::mutex merging;
  parallel_for(x.of.rows, [&](std::int64_t row) {
    error_meter y(x.of.type), r(x.of.type);
    compare_row(x, row, y, r);
    std::scoped_lock const lock(merging);
    ys.merge(y);
    rs.merge(r);
  });
  // Errors before the rounding add to its own in squares: 1.05 as for sums
  // (tests/ops/gemm/oracle.hpp).
  auto v = ys.judge("y", 1.05);
  if (v.ok() && v.compared != x.of.rows * x.of.width)
    v.wrong = "compared " + std::to_string(v.compared) + " elements";
  if (v.ok() && x.of.store_r) v.wrong = rs.judge("r", 1.05).wrong;
  return v;
}

inline verdict run(norm_case const& c) {
  norm_operands x(c);
  verdict v;
  v.wrong = launch_twice(x);
  if (!v.ok()) return v;
  v = compare(x);
  std::vector<tensor> written{x.y};
  if (c.store_r) written.push_back(x.r);
  if (v.ok()) v.wrong = check_untouched(x.memories, written);
  return v;
}

}  // namespace tk::test
