// SPDX-License-Identifier: MIT
// One case of tk_quantise, and its oracle: the steps that ops/quantise/quantise.h promises, each in
// fp32 or in double precision and rounded. No result may differ in a bit (but in the sign of 0).
#pragma once
#include "ops/quantise/quantise.h"
#include "tests/support/row_suite.hpp"

namespace tk::test {

struct quantise_operands;

struct quantise_case {
  using operands = quantise_operands;
  row_shape shape;
  dtype type = dtype::bf16, y_type = dtype::fp8_e4m3;
  tk_scale_kind kind = TK_SCALE_ROW;
  bool power_of_two = false;
  float given = 0.25f;        // the scale of TK_SCALE_GIVEN
  double mean = 0, size = 1;  // of x's elements: uniform in mean +- size
  matrix_layout x_layout = {}, y_layout = {}, scale_layout = {};
};

inline std::string describe(quantise_case const& x) {
  static char const* const kinds[] = {"rows", "1x128", "128x128", "tensor", "given"};
  std::ostringstream s;
  s << "quantise " << x.shape << " " << name_of(x.type) << " to " << name_of(x.y_type) << " by "
    << kinds[x.kind] << (x.power_of_two ? " of powers of two" : "") << " mean " << x.mean
    << " size " << x.size;
  if (x.kind == TK_SCALE_GIVEN) s << " scale " << x.given;
  describe(s, "x", x.x_layout);
  describe(s, "y", x.y_layout);
  describe(s, "scale", x.scale_layout);
  return s.str();
}

struct quantise_operands {
  explicit quantise_operands(quantise_case const& x);
  quantise_operands(quantise_operands const&) = delete;

  quantise_case of;
  world memories;
  tensor x, given, y, scale;
  mutable std::vector<float> largest;  // of each block, as it is when a launch begins
  static constexpr row_operand<quantise_operands> table[] = {
      {"x", &quantise_operands::x},
      {"given", &quantise_operands::given},
      {"y", &quantise_operands::y, true},
      {"scale", &quantise_operands::scale, true}};
};

inline std::int64_t in_blocks(std::int64_t n) { return (n + 127) / 128; }

// What a block is: so many rows and columns; 0 for all there are.
struct block_shape {
  std::int64_t rows, cols;
};
inline block_shape block_of(tk_scale_kind kind) {
  constexpr block_shape all[] = {{1, 0}, {1, 128}, {128, 128}, {0, 0}, {0, 0}};
  return all[kind];
}
// The row of scale that goes with a row of x, and how many columns it has.
inline std::int64_t scale_row(quantise_case const& c, std::int64_t row) {
  if (c.kind == TK_SCALE_TENSOR || c.kind == TK_SCALE_GIVEN) return 0;
  if (c.kind != TK_SCALE_128X128) return row;
  return row / c.shape.rows * in_blocks(c.shape.rows) + row % c.shape.rows / 128;
}
inline row_shape scale_shape(quantise_case const& c) {
  auto s = c.shape;
  if (c.kind == TK_SCALE_TENSOR || c.kind == TK_SCALE_GIVEN) return {.rank = 1, .width = 1};
  s.width = c.kind == TK_SCALE_ROW ? 1 : in_blocks(s.width);
  if (c.kind == TK_SCALE_128X128) s.rows = in_blocks(s.rows);
  return s;
}

inline quantise_operands::quantise_operands(quantise_case const& c) : of(c), memories(3) {
  x = place_rows(memories, c.type, c.shape, c.x_layout, role::input);
  fill_uniform(x, 21, c.mean, c.size);
  y = output_rows(memories, c.y_type, c.shape, c.y_layout);
  if (c.kind == TK_SCALE_GIVEN) {
    given = place_rows(memories, dtype::fp32, scale_shape(c), {}, role::input);
    set(given, 0, 0, static_cast<double>(c.given));
  } else {
    scale = output_rows(memories, dtype::fp32, scale_shape(c), c.scale_layout);
  }
}

// NaN does not count.
inline void find_largest(quantise_operands const& x) {
  auto const& c = x.of;
  if (c.kind == TK_SCALE_GIVEN) return;
  auto const shape = scale_shape(c);
  x.largest.assign(static_cast<std::size_t>(shape.all_rows() * shape.width), 0.f);
  if (c.shape.width == 0) return;
  auto const cols = block_of(c.kind).cols;
  for (std::int64_t row = 0; row < c.shape.all_rows(); ++row) {
    auto const in = given_row(x.x, row);
    auto const first = scale_row(c, row) * shape.width;
    for (std::size_t col = 0; col < in.size(); ++col) {
      auto const at = first + (cols ? static_cast<std::int64_t>(col) / cols : 0);
      auto& most = x.largest[static_cast<std::size_t>(at)];
      if (std::fabs(in[col]) > static_cast<double>(most))
        most = static_cast<float>(std::fabs(in[col]));
    }
  }
}

template <class Body> std::string with_problem(quantise_operands const& x, Body const& body) {
  quantise_case const& c = x.of;
  find_largest(x);
  DLTensor const in = x.x.dl(), out = x.y.dl(),
                 scale = c.kind == TK_SCALE_GIVEN ? x.given.dl()
                         : c.kind == TK_SCALE_ROW ? without_last(x.scale)
                                                  : x.scale.dl();
  tk_quantise_problem p{};
  p.size = sizeof p;
  p.x = &in;
  p.y = &out;
  p.scale = &scale;
  p.kind = c.kind;
  p.power_of_two = c.power_of_two;
  return body(called_op{TK_OP_QUANTISE, tk_quantise}, static_cast<tk_quantise_problem const*>(&p));
}

inline float scale_of(quantise_case const& c, float largest) {
  float const scale = std::max(largest, 0x1p-80f) / static_cast<float>(format_of(c.y_type).largest);
  if (!c.power_of_two || !std::isfinite(scale)) return scale;
  int exponent;
  return std::ldexp(1.f, std::frexp(scale, &exponent) == 0.5f ? exponent - 1 : exponent);
}
inline double quantised(dtype type, double x, float scale) {
  float const inverse = 1.f / scale, y = static_cast<float>(x) * inverse;
  double const largest = format_of(type).largest;
  return std::isnan(y) ? std::nan("")
                       : std::clamp(rounded(type, static_cast<double>(y)), -largest, largest);
}

inline void check_row(quantise_operands const& x, std::int64_t row, std::span<error_meter> meters) {
  quantise_case const& c = x.of;
  auto const in = given_row(x.x, row);
  auto const shape = scale_shape(c);
  auto const scales = scale_row(c, row), cols = block_of(c.kind).cols;
  auto const expected = [&](std::int64_t i) {
    if (c.kind == TK_SCALE_GIVEN) return c.given;
    return scale_of(c, x.largest[static_cast<std::size_t>(scales * shape.width + i)]);
  };
  for (std::int64_t col = 0; col < c.shape.width; ++col)
    meters[0].add(
        row, col, result_at(x.y, row, col),
        quantised(c.y_type, in[static_cast<std::size_t>(col)], expected(cols ? col / cols : 0)), 0,
        0, 0);
  if (c.kind == TK_SCALE_GIVEN) return;
  for (std::int64_t i = 0; i < shape.width; ++i)
    meters[1].add(row, i, result_at(x.scale, scales, i), static_cast<double>(expected(i)), 0, 0, 0);
}

// Kind 0 ... 59: which block, types, powers of two; sizes of numbers go round. Squares have rows.
inline constexpr int quantise_kinds = 60;
inline quantise_case quantise_of_kind(row_shape shape, int kind) {
  constexpr dtype types[] = {dtype::bf16, dtype::fp16, dtype::fp32};
  quantise_case x;
  x.kind = static_cast<tk_scale_kind>(kind % 5);
  x.type = types[kind / 5 % 3];
  x.y_type = kind / 15 % 2 ? dtype::fp8_e5m2 : dtype::fp8_e4m3;
  x.power_of_two = kind / 30 && x.kind != TK_SCALE_GIVEN;
  if (x.kind == TK_SCALE_128X128) shape.rank = std::max(shape.rank, 2);
  x.shape = shape;
  auto const turn = kind + shape.all_rows() + shape.width;
  // Those of the last size are below the least that a scale is made of, but for fp16.
  constexpr double sizes[] = {1, 0x1p-12, 4000, 1, 0x1p-85};
  x.size = sizes[turn % 5];
  x.mean = turn % 7 == 3 ? -x.size : 0;
  return x;
}

}  // namespace tk::test
