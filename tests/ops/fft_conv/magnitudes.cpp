// SPDX-License-Identifier: MIT
// timeout: 600
// Sequences and filters of the largest and smallest magnitudes, 2^60 and 2^-60, whose products and
// sums bf16 and fp32 hold, though not those of their spectra.
#include <array>

#include "tests/ops/fft_conv/oracle.hpp"

namespace tk::test {
namespace {

// Of u, k and dy.
using exponents = std::array<int, 3>;
constexpr exponents large{60, 60, 60}, small{-60, -60, -60}, both{60, -60, 60};

std::array<tensor*, 3> inputs(conv_operands& x) { return {&x.u, &x.k, nullptr}; }
std::array<tensor*, 3> inputs(conv_backward_operands& x) { return {&x.u, &x.k, &x.dy}; }

template <class Operands, class Change>
void check(conv_case const& c, exponents const& e, Change change) {
  Operands x(c);
  auto const all = inputs(x);
  for (std::size_t i = 0; i < 3; ++i)
    if (all[i]) fill(*all[i], data::reals, 61 + i, std::ldexp(1., e[i]));
  change(x);
  CAPTURE(e[0]);
  CAPTURE(e[1]);
  REQUIRE(launch_twice(x) == "");
  auto const v = compare(x);
  CHECK_MESSAGE(v.ok(), describe(c) << "\n  " << v.wrong);
}
void set_all(tensor& x, std::int64_t row, double value) {
  for (std::int64_t i = 0; i < x.cols(); ++i) set(x, row, i, value);
}

// Of few and of many sequences, of one block, of two, and of filters of several pieces.
std::vector<conv_case> cases() {
  return {{.n = 200, .nk = 100},
          {.n = 500, .nk = 500},
          {.b = 40, .n = 200, .nk = 200},
          {.n = 3000, .nk = 3000},
          {.n = 8300, .nk = 8300}};
}

TEST_CASE("numbers from 2^-60 to 2^60") {
  for (auto c : cases())
    for (bool const circular : {false, true})
      for (auto const& e : {large, small, both}) {
        c.circular = circular;
        check<conv_operands>(c, e, [](auto&) {});
        check<conv_backward_operands>(c, e, [](auto&) {});
      }
}

// Whose products have the smallest bounds.
TEST_CASE("a few numbers of that size, and zeros") {
  for (auto const& c : cases())
    for (auto const& e : {large, small})
      check<conv_backward_operands>(c, e, [&](auto& x) {
        std::uint64_t seed = 71;
        for (auto* t : {&x.u, &x.dy})
          for (std::int64_t row = 0; row < t->rows(); ++row, ++seed)
            for (std::int64_t i = 0; i < c.n; ++i)
              if (random_below(c.n, seed, static_cast<std::uint64_t>(i)) >= 40) set(*t, row, i, 0);
      });
}

// The filter's gradient is one sum over all of them.
TEST_CASE("sequences of different sizes") {
  for (auto c : cases()) {
    c.b = std::max<std::int64_t>(c.b, 3);
    for (std::int64_t const quiet : {0, 1, 2})  // beside large ones
      check<conv_backward_operands>(c, large, [&](auto& x) {
        for (std::int64_t i = 0; i < c.n; ++i)
          for (auto* t : {&x.u, &x.dy}) set(*t, quiet, i, i % 3 * 0x1p-60);
      });
    for (std::int64_t const zero : {0, 1, 2})  // beside small ones, and with a large gradient
      check<conv_backward_operands>(c, small, [&](auto& x) {
        set_all(x.u, zero, 0);
        set_all(x.dy, zero, 0x1p60);
      });
  }
}

}  // namespace
}  // namespace tk::test
