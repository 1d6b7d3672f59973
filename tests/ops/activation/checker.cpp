// SPDX-License-Identifier: MIT
// The tests' own tests: a right result passes, and a right result with one fault in it does not,
// whatever the way of checking. The oracle's slopes are those of its own activations.
#include "tests/ops/activation/activation_backward.hpp"
#include "tests/support/row_faults.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr row_shape small{.rank = 3, .h = 2, .rows = 6, .width = 193};
constexpr dtype types[] = {dtype::bf16, dtype::fp16, dtype::fp32};
tk_activation_kind after(tk_activation_kind x) {
  return activation_kinds[(static_cast<int>(x) + 1) % 6];
}

// A column of the last row where a is in [1, 6]: no result is near 0, none is saturated.
template <class Operands> std::int64_t telling_column(Operands const& x) {
  auto const a = numbers_of(x, small.all_rows() - 1).a;
  for (std::int64_t col = 1; col < small.width; ++col)
    if (auto const value = a[static_cast<std::size_t>(col)]; value > 1 && value < 6) return col;
  FAIL("a has no such number");
  return 0;
}

TEST_CASE("one fault in an activation is found") {
  for (auto const type : types)
    for (auto const kind : activation_kinds)
      for (bool const gated : {false, true}) {
        activation_case c{.shape = small, .type = type, .kind = kind, .gated = gated};
        c.packed = type == dtype::fp16;
        activation_operands x(c);
        check_faults_found(x, telling_column(x), type == dtype::fp32 ? 300 : 2);
        check_field_matters(x, &activation_case::kind, after(kind));
      }
}

TEST_CASE("one fault in an activation's backward is found") {
  for (auto const type : types)
    for (auto const kind : activation_kinds) {
      activation_backward_case c{.shape = small, .type = type, .kind = kind};
      c.packed = type == dtype::fp16;
      // The slope of ReLU and that of NONE have no digits, those of others are small.
      activation_backward_operands x(c);
      check_faults_found(x, telling_column(x), type == dtype::fp32 ? 300000 : 2);
      check_field_matters(x, &activation_backward_case::kind, after(kind));
    }
}

TEST_CASE("one fault in pairs is found") {
  for (auto const type : {dtype::bf16, dtype::fp16})
    for (auto const kind : activation_kinds) {
      activation_case c{.shape = small, .type = type, .kind = kind, .interleaved = true};
      activation_operands x(c);
      check_faults_found(x, telling_column(x), 2);
      check_field_matters(x, &activation_case::kind, after(kind));
      activation_backward_case d{.shape = small, .type = type, .kind = kind, .interleaved = true};
      activation_backward_operands y(d);
      for (int which = 0; which < 2; ++which)
        check_faults_found(y, 2 * telling_column(y) + which, 2);
      check_field_matters(y, &activation_backward_case::kind, after(kind));
    }
}

// Central differences of the fourth order, off by some h^4 and 2^-52 / h.
TEST_CASE("slopes are those of the activations") {
  constexpr double h = 1e-3;
  for (auto const kind : activation_kinds)
    for (int i = -4000; i <= 4000; ++i) {
      double const x = i / 256.;
      if (kind == TK_ACTIVATION_RELU && i == 0) continue;
      auto const y = [&](double steps) { return activate(kind, x + steps * h); };
      double const slope = (8 * (y(1) - y(-1)) - (y(2) - y(-2))) / (12 * h);
      REQUIRE(std::fabs(slope - activation_slope(kind, x)) < 1e-9);
    }
  for (auto const kind : activation_kinds) {
    auto const falls = kind == TK_ACTIVATION_NONE || kind == TK_ACTIVATION_SIGMOID;
    CHECK(activation_slope(kind, HUGE_VAL) == (kind == TK_ACTIVATION_SIGMOID ? 0 : 1));
    CHECK(activation_slope(kind, -HUGE_VAL) == (kind == TK_ACTIVATION_NONE ? 1 : 0));
    if (!falls) CHECK(activate(kind, -HUGE_VAL) == 0);
  }
}

}  // namespace
}  // namespace tk::test
