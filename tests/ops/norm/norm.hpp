// SPDX-License-Identifier: MIT
// One case of tk_norm, and its oracle: the sum, the mean and the variance in double precision. With
// u = 2^-24, what fp32 may commit:
//   r      one addition: u |r|; with dropout a product and its factor: 2 u of it
//   mean   sums of a row in any of the orders in use, some hundred terms in a row at most: 16 u of
//          the mean of |r|, and the same in every difference from it
//   scale  the sum of squares 16 u, the differences' own errors, rsqrt 4 u
//   y      four roundings; of fp8 two more, of 1 / scale and of the product
//   scale  what the largest y may be off by, over the largest number of fp8; y is held against the
//          scale that was written
#pragma once
#include <optional>

#include "ops/norm/norm.h"
#include "tests/support/dropout.hpp"
#include "tests/support/row_suite.hpp"

namespace tk::test {

enum class column_type { of_rows, fp32 };

// Which elements of x are dropped, by the definition in norm.h.
struct norm_mask {
  float p = 0;
  std::uint64_t seed = 9, offset = 3;
  bool on_device = false;  // random_state

  double kept(std::int64_t row, std::int64_t col) const {  // what an element is multiplied by
    auto const below = drop_below(p);
    bool const drops = random_byte_of_row(seed, offset, row, col) < below;
    return drops ? 0 : 256. / (256 - below);
  }
};
inline std::ostream& operator<<(std::ostream& s, norm_mask const& x) {
  if (x.p != 0) s << " dropout " << x.p << " seed " << x.seed << " offset " << x.offset;
  return s << (x.on_device ? " state" : "");
}
// Seed and offset in device memory, and other ones in the struct.
struct norm_state {
  device_numbers in;
  DLTensor dl{};
  norm_state(world& w, norm_mask const& x) {
    if (x.on_device) in = put_numbers(w, {kDLUInt, 64, 1}, std::vector{x.seed, x.offset});
  }
  template <class Problem> void put(Problem& p, norm_mask const& x) {
    p.dropout = x.p;
    p.seed = x.on_device ? ~x.seed : x.seed;
    p.offset = x.on_device ? 77 : x.offset;
    if (!x.on_device) return;
    dl = in.dl();
    p.random_state = &dl;
  }
};

struct norm_operands;

struct norm_case {
  using operands = norm_operands;
  row_shape shape;
  tk_norm_kind kind = TK_NORM_LAYER;
  dtype type = dtype::bf16;
  bool residual = false, store_r = false, weight = true, bias = true;
  column_type scale = column_type::of_rows;  // of weight and bias
  // On x, or on residual.
  row_place y_place = row_place::apart, r_place = row_place::apart;
  double mean = 0, size = 1;  // of x's elements: uniform in mean +- size
  float eps = 1e-5f;
  matrix_layout x_layout = {}, residual_layout = {}, y_layout = {}, r_layout = {};
  int weight_misalignment = 0, bias_misalignment = 0;
  column_type stream = column_type::of_rows;  // of residual and r
  norm_mask mask = {};
  std::optional<dtype> fp8 = {};  // y's type
  bool power_of_two = false;
  std::optional<float> given_scale = {};  // of TK_SCALE_GIVEN
  matrix_layout y_scale_layout = {};

  dtype type_of(column_type x) const { return x == column_type::fp32 ? dtype::fp32 : type; }
};

inline std::string describe(norm_case const& x) {
  static char const* const places[] = {"", " on x", " on residual"};
  std::ostringstream s;
  s << (x.kind == TK_NORM_RMS ? "rms" : "layer") << " norm " << x.shape << " " << name_of(x.type)
    << (x.residual ? " +residual" : "") << (x.store_r ? " r" : "")
    << places[static_cast<int>(x.r_place)] << " y" << places[static_cast<int>(x.y_place)]
    << (x.weight ? " weight" : "") << (x.bias ? " bias" : "")
    << (x.scale == column_type::fp32 ? " fp32" : "") << " mean " << x.mean << " size " << x.size
    << " eps " << x.eps << (x.stream == column_type::fp32 ? " stream fp32" : "") << x.mask;
  if (x.fp8) s << " to " << name_of(*x.fp8) << (x.power_of_two ? " by powers of two" : "");
  if (x.given_scale) s << " by " << *x.given_scale;
  describe(s, "x", x.x_layout);
  describe(s, "residual", x.residual_layout);
  describe(s, "y", x.y_layout);
  describe(s, "r", x.r_layout);
  describe(s, "y_scale", x.y_scale_layout);
  return s.str();
}

struct norm_operands {
  explicit norm_operands(norm_case const& x);
  norm_operands(norm_operands const&) = delete;

  norm_case of;
  world memories;
  tensor x, residual, weight, bias, given_scale, y, r, y_scale;
  mutable norm_state state;
  static constexpr row_operand<norm_operands> table[] = {
      {"x", &norm_operands::x},
      {"residual", &norm_operands::residual},
      {"weight", &norm_operands::weight},
      {"bias", &norm_operands::bias},
      {"given", &norm_operands::given_scale},
      {"y", &norm_operands::y, true},
      {"r", &norm_operands::r, true},
      {"y_scale", &norm_operands::y_scale, true}};
};

inline norm_operands::norm_operands(norm_case const& c)
    : of(c), memories(3), state(memories, c.mask) {
  auto const input = [&](row_place here, matrix_layout const& how, std::uint64_t seed,
                         double center, dtype type) {
    bool const written = c.y_place == here || (c.store_r && c.r_place == here);
    tensor t = place_rows(memories, type, c.shape, how, written ? role::output : role::input);
    fill_uniform(t, seed, center, c.size);
    return t;
  };
  x = input(row_place::on_first, c.x_layout, 21, c.mean, c.type);
  if (c.residual)
    residual = input(row_place::on_second, c.residual_layout, 22, 0, c.type_of(c.stream));
  auto const output = [&](row_place where, matrix_layout const& how, dtype type) {
    if (where == row_place::on_first) return x;
    if (where == row_place::on_second) return residual;
    return output_rows(memories, type, c.shape, how);
  };
  y = output(c.y_place, c.y_layout, c.fp8.value_or(c.type));
  if (c.store_r) r = output(c.r_place, c.r_layout, c.type_of(c.stream));
  if (c.given_scale) {
    given_scale = memories.make(dtype::fp32, {1}, {1}, role::input);
    set(given_scale, 0, 0, static_cast<double>(*c.given_scale));
  } else if (c.fp8) {
    y_scale = output_rows(memories, dtype::fp32, shape_of_each(c.shape), c.y_scale_layout);
  }
  dtype const type = c.type_of(c.scale);
  auto const columns = [&](std::uint64_t seed, double center, int misalignment) {
    tensor t = memories.make(type, {c.shape.width}, {1}, role::input, misalignment);
    fill_uniform(t, seed, center, 0.5);
    return t;
  };
  if (c.weight) weight = columns(23, 1, c.weight_misalignment);
  if (c.bias) bias = columns(24, 0, c.bias_misalignment);
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
  auto const& given_scale = x.given_scale;
  DLTensor const scale = given_scale.in ? given_scale.dl()
                         : x.y_scale.in ? without_last(x.y_scale)
                                        : DLTensor{};
  if (x.of.fp8) p.y_scale = &scale;
  p.y_scale_kind = given_scale.in ? TK_SCALE_GIVEN : TK_SCALE_ROW;
  p.power_of_two = x.of.power_of_two;
  x.state.put(p, x.of.mask);
  return body(called_op{TK_OP_NORM, tk_norm}, static_cast<tk_norm_problem const*>(&p));
}

// The least power of two that is not below x in fp32.
inline double up_to_power_of_two(double x) {
  int exponent;
  float const in_fp32 = static_cast<float>(x);
  bool const is_one = std::frexp(in_fp32, &exponent) == 0.5f;
  return std::ldexp(1.0, is_one ? exponent - 1 : exponent);
}
// What y is multiplied by, of the scale that is there.
inline double inverse_scale(norm_operands const& x, std::int64_t row) {
  double const scale =
      x.given_scale.in ? static_cast<double>(*x.of.given_scale) : result_at(x.y_scale, row, 0);
  return static_cast<double>(1.f / static_cast<float>(scale));
}
// `most`: the largest |y| of the row, and what it may be off by.
inline void check_scale(norm_operands const& x, std::int64_t row, double most, double slack,
                        error_meter& meter) {
  double const largest = format_of(x.y.type).largest, got = result_at(x.y_scale, row, 0);
  auto const scale_of = [&](double y) { return std::max(y, 0x1p-80) / largest; };
  double const exact = scale_of(most);
  if (!x.of.power_of_two || !std::isfinite(exact))
    return meter.add(row, 0, got, exact, slack / largest, rounded(dtype::fp32, exact) - exact,
                     slack / largest);
  double const low = up_to_power_of_two(scale_of(most - slack)),
               high = up_to_power_of_two(scale_of(most + slack));
  meter.add(row, 0, got, got == high ? high : low, 0, 0, 0);
}

inline void check_row(norm_operands const& x, std::int64_t row, std::span<error_meter> meters) {
  norm_case const& c = x.of;
  double const u = fp32_roundoff, width = static_cast<double>(c.shape.width);
  auto s = given_row(x.x, row);
  std::vector<double> weight(s.size(), 1), bias(s.size(), 0), rounding(s.size(), 0);
  if (c.mask.p != 0)
    for (std::size_t i = 0; i < s.size(); ++i) {
      double const kept = c.mask.kept(row, static_cast<std::int64_t>(i));
      s[i] = kept == 0 ? 0 : s[i] * kept;
      rounding[i] = 2 * u * std::fabs(s[i]);
    }
  if (c.residual) {
    auto const other = given_row(x.residual, row);
    for (std::size_t i = 0; i < s.size(); ++i) s[i] += other[i];
  }
  if (c.weight) weight = given_row(x.weight, 0);
  if (c.bias) bias = given_row(x.bias, 0);
  double mean = 0, magnitude = 0, var = 0, errors = 0, all_rounding = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    mean += s[i] / width, magnitude += std::fabs(s[i]) / width;
    all_rounding += rounding[i] / width;
    rounding[i] += u * std::fabs(s[i]);
  }
  bool const layer = c.kind == TK_NORM_LAYER;
  if (!layer) mean = 0;
  double const mean_slack = layer ? 16 * u * magnitude + all_rounding : 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    var += (s[i] - mean) * (s[i] - mean) / width;
    double const e = mean_slack + rounding[i];
    errors += e * e / width;
  }
  double const root = std::sqrt(var + static_cast<double>(c.eps)), scale = 1 / root;
  bool const special = !std::isfinite(root);  // then y is bias, or NaN, whatever was rounded
  double const scale_slack = 14 * u + std::sqrt(errors) / root;
  double const inverse = c.fp8 ? inverse_scale(x, row) : 1;
  double most = 0, most_slack = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    auto const col = static_cast<std::int64_t>(i);
    double const d = s[i] - mean, part = weight[i] * d * scale, exact = part + bias[i];
    double const slack =
        special ? 0
                : std::fabs(weight[i]) * scale * (mean_slack + rounding[i] + u * std::fabs(d)) +
                      std::fabs(part) * (scale_slack + 4 * u) +
                      2 * u * (std::fabs(bias[i]) + std::fabs(exact)) + fp32_least_normal;
    if (!c.fp8) {
      meters[0].add(row, col, result_at(x.y, row, col), exact, slack,
                    rounded(c.type, exact) - exact, slack);
    } else {
      double const largest = format_of(*c.fp8).largest, scaled = exact * inverse,
                   clamped = std::clamp(scaled, -largest, largest),
                   all = slack * inverse + 2 * u * std::fabs(clamped);
      meters[0].add(row, col, result_at(x.y, row, col), clamped, all,
                    rounded(*c.fp8, clamped) - clamped, all);
      if (!std::isnan(exact)) most = std::max(most, std::fabs(exact));
      most_slack = std::max(most_slack, slack);
    }
    if (!c.store_r) continue;
    double const r_slack = rounding[i] + fp32_least_normal;
    meters[1].add(row, col, result_at(x.r, row, col), s[i], r_slack, rounded(x.r.type, s[i]) - s[i],
                  r_slack);
  }
  if (x.y_scale.in) check_scale(x, row, most, most_slack, meters[c.store_r ? 2 : 1]);
}

}  // namespace tk::test
