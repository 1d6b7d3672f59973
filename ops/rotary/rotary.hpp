// SPDX-License-Identifier: MIT
// rotary: pairs of columns of x are rotated by the angles of their token, forwards or back:
//           y_first = first c - second s,  y_second = second c + first s
// Shapes    x, y[b, n, heads, d]; cos, sin[m, w], of which a token has one row: that of its place
//           among n, or what positions[b, n] or offsets[b] say; zeros where there is no such row. A
//           pair is columns i and i + w, or 2 i and 2 i + 1.
// Numerics  fp32, y is rounded once.
// Order     elements depend on nothing but their pair and angle.
#pragma once
#include "core/row_kernel.hpp"
#include "ops/tensors.hpp"

namespace tk {

struct rotary_args {
  divisor heads, tokens;
  int are_offsets;  // of first tokens; a flag, but a word
  float sign;       // of angles

  // The row of cos and sin for the i-th of all rows.
  TK_BOTH std::int64_t place(std::int64_t number, int i) const {
    if (!are_offsets) return number;
    // A sum of 64 bits must not wrap into the table.
    constexpr std::int64_t far = std::int64_t{1} << 32;
    return number < -far || number > far ? -1 : number + tokens.of(heads.of(i).quotient).rest;
  }
};

// Columns i and i + w: inputs and outputs are the halves, w wide.
template <class T, class C> struct rotary_halves {
  static constexpr int inputs = 4, outputs = 2, vectors = 0, values = 1;
  static constexpr int held = sizeof(C) == 4 ? 2 : 1;  // four inputs are, too
  static constexpr row_input<0> first{};
  static constexpr row_input<1> second{};
  static constexpr row_input<2> cos{};
  static constexpr row_input<3> sin{};
  static constexpr row_extras extras{.inputs = inputs, .outputs = outputs, .vectors = 0, .sums = 0};
  template <int I> using input = std::conditional_t<(I < 2), T, C>;
  template <int> using output = T;
  static constexpr int number_of(int input) { return input < 2 ? -1 : 0; }
  // Halves lie alike.
  static constexpr int input_like(int input) { return input == 1 ? 0 : input; }
  static constexpr int output_like(int) { return 0; }
  static constexpr bool lies_anyhow(int input) { return input >= 2; }  // heads have the same row
  using args = rotary_args;
  static TK_BOTH std::int64_t place(args const& a, std::int64_t number, int i) {
    return a.place(number, i);
  }
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p(first) * p(cos) - p(second) * (p(sin) * a.sign), row_output<1>{},
              p(second) * p(cos) + p(first) * (p(sin) * a.sign));
    });
  }
};

// Columns 2 i and 2 i + 1: x and y are 2 w wide.
template <class T, class C> struct rotary_pairs {
  static constexpr int inputs = 3, outputs = 1, vectors = 0, held = 1, values = 1;
  static constexpr row_extras extras{.inputs = inputs, .outputs = outputs, .vectors = 0, .sums = 0};
  static constexpr bool pairs = true;
  static constexpr row_input<0> x{};
  static constexpr row_input<1> cos{};
  static constexpr row_input<2> sin{};
  template <int I> using input = std::conditional_t<(I < 1), T, C>;
  template <int> using output = T;
  static constexpr int columns_each(int input) { return input < 1 ? 1 : 2; }
  static constexpr int number_of(int input) { return input < 1 ? -1 : 0; }
  static constexpr bool lies_anyhow(int input) { return input >= 1; }
  using args = rotary_args;
  static TK_BOTH std::int64_t place(args const& a, std::int64_t number, int i) {
    return a.place(number, i);
  }
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const& a) {
    rows.each([&](auto const& p) {
      p.write(row_output<0>{}, p(x) * p(cos) + p.rotate_pairs(p(x)) * (p(sin) * a.sign));
    });
  }
};

// Columns that pass through.
template <class T> struct rotary_rest {
  static constexpr int inputs = 1, outputs = 1, vectors = 0, held = 1;
  template <int> using input = T;
  template <int> using output = T;
  struct args {
    int unused;
  };
  static int passes(args const&) { return 1; }

  template <class Rows> static TK_DEVICE void run(Rows& rows, args const&) {
    rows.each([&](auto const& p) { p.write(row_output<0>{}, p(row_input<0>{})); });
  }
};

}  // namespace tk
