// SPDX-License-Identifier: MIT
// Faults for results, so that the tests' own ways of checking are seen to notice them.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/tensor.hpp"

namespace tk::test {

// The next number of the output's type away from zero, `steps` times.
inline void nudge(tensor const& x, std::int64_t row, std::int64_t col, int steps) {
  std::byte* p = x.result_row(row) + col * bytes_of(x.type);
  double value = decode(x.type, p);
  auto const f = format_of(x.type);
  for (int i = 0; i < steps; ++i) {
    int const e = value == 0 ? f.least_exponent : std::max(std::ilogb(value), f.least_exponent);
    value += std::copysign(std::ldexp(1.0, e - f.fraction_bits), value);
  }
  encode(x.type, rounded(x.type, value), p);
}
inline void put(tensor const& x, std::int64_t row, std::int64_t col, double value) {
  encode(x.type, rounded(x.type, value), x.result_row(row) + col * bytes_of(x.type));
}
inline std::vector<std::byte> row_bytes(tensor const& x, std::int64_t row) {
  std::byte const* p = x.result_row(row);
  return {p, p + x.cols() * bytes_of(x.type)};
}

// Calls `spoil`, wants a complaint, and puts the element's row back.
template <class Operands, class Spoil>
void wants_complaint(char const* what, Operands const& x, tensor const& out, std::int64_t row,
                     Spoil const& spoil) {
  auto const good = row_bytes(out, row);
  spoil();
  auto const v = compare(x);
  CHECK_MESSAGE(!v.ok(), std::string(what) << ": " << describe(x.of));
  std::copy(good.begin(), good.end(), out.result_row(row));
}

}  // namespace tk::test
