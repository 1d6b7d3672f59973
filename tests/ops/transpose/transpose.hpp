// SPDX-License-Identifier: MIT
// One case of tk_transpose, and its oracle: every element is that of x in its place.
#pragma once
#include "ops/transpose/transpose.h"
#include "tests/support/row_suite.hpp"

namespace tk::test {

inline constexpr dtype moved_types[] = {dtype::bf16, dtype::fp32, dtype::fp8_e5m2, dtype::fp16,
                                        dtype::int32};

struct transpose_operands;

// shape: y's, of rank 2 to 4; x has `width` rows of `rows`.
struct transpose_case {
  using operands = transpose_operands;
  row_shape shape;
  dtype type = dtype::bf16;
  matrix_layout x_layout = {}, y_layout = {};

  row_shape x_shape() const {
    row_shape s = shape;
    std::swap(s.rows, s.width);
    return s;
  }
};

inline std::string describe(transpose_case const& x) {
  std::ostringstream s;
  s << "transpose " << x.x_shape() << " " << name_of(x.type);
  describe(s, "x", x.x_layout);
  describe(s, "y", x.y_layout);
  return s.str();
}

struct transpose_operands {
  explicit transpose_operands(transpose_case const& c)
      : of(c),
        memories(3),
        x(place_rows(memories, c.type, c.x_shape(), c.x_layout, role::input)),
        y(output_rows(memories, c.type, c.shape, c.y_layout)) {
    if (is_integer(c.type)) {
      for (std::int64_t r = 0; r < x.rows(); ++r)
        for (std::int64_t col = 0; col < x.cols(); ++col)
          set(x, r, col, static_cast<double>(r * 65537 + col) - 0x1p30);
    } else {
      fill_uniform(x, 21, 0, 4);
    }
  }
  transpose_operands(transpose_operands const&) = delete;

  transpose_case of;
  world memories;
  tensor x, y;
  static constexpr row_operand<transpose_operands> table[] = {{"x", &transpose_operands::x},
                                                              {"y", &transpose_operands::y, true}};
};

template <class Body> std::string with_problem(transpose_operands const& x, Body const& body) {
  DLTensor const in = x.x.dl(), out = x.y.dl();
  tk_transpose_problem p{};
  p.size = sizeof p;
  p.x = &in;
  p.y = &out;
  return body(called_op{TK_OP_TRANSPOSE, tk_transpose},
              static_cast<tk_transpose_problem const*>(&p));
}

inline void check_row(transpose_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  auto const& s = x.of.shape;
  std::int64_t const matrix = row / s.rows, col = row % s.rows;
  for (std::int64_t i = 0; i < s.width; ++i) {
    auto const* from = x.x.image_row(matrix * s.width + i) + col * bytes_of(x.x.type);
    meters[0].add(row, i, result_at(x.y, row, i), decode(x.x.type, from), 0, 0, 0);
  }
}

// Of `shape`, whatever its rank.
inline transpose_case transpose_of(row_shape shape) {
  transpose_case x{.shape = shape};
  x.shape.rank = std::max(shape.rank, 2);
  return x;
}

}  // namespace tk::test
