// SPDX-License-Identifier: MIT
// Element conversions against an oracle that knows only what the bits of a format mean: a table of
// all its values in double, searched for the nearest. Every pattern goes there and back; rounding
// is tried at every value, every halfway point between neighbours and the floats next to both, and
// at random bits of every magnitude.
#include "core/element.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

template <class T> struct described;  // OCP 8-bit floating point specification; IEEE 754; bfloat16
template <> struct described<tk::bf16> {
  static constexpr int exponent = 8, mantissa = 7;
  static constexpr bool has_infinity = true;
};
template <> struct described<tk::fp16> {
  static constexpr int exponent = 5, mantissa = 10;
  static constexpr bool has_infinity = true;
};
template <> struct described<tk::fp8_e5m2> {
  static constexpr int exponent = 5, mantissa = 2;
  static constexpr bool has_infinity = true;
};
template <> struct described<tk::fp8_e4m3> {
  static constexpr int exponent = 4, mantissa = 3;
  static constexpr bool has_infinity = false;
};

// The values of the non-negative patterns that are finite, in order; `beyond` is the one that would
// follow the largest.
template <class T> struct oracle {
  using format = described<T>;
  static constexpr std::uint32_t sign = 1u << (format::exponent + format::mantissa);
  std::vector<double> value;
  double beyond;

  static double meaning(std::uint32_t pattern) {
    int const bias = (1 << (format::exponent - 1)) - 1;
    int const e = static_cast<int>(pattern >> format::mantissa);
    int const m = static_cast<int>(pattern & ((1u << format::mantissa) - 1));
    return e == 0 ? std::ldexp(m, 1 - bias - format::mantissa)
                  : std::ldexp(m + (1 << format::mantissa), e - bias - format::mantissa);
  }
  oracle() {
    std::uint32_t const finite =
        format::has_infinity ? ((1u << format::exponent) - 1) << format::mantissa : sign - 1;
    for (std::uint32_t p = 0; p < finite; ++p) value.push_back(meaning(p));
    beyond = meaning(finite);
  }
  bool is_nan(std::uint32_t pattern) const {
    return (pattern & (sign - 1)) > value.size() - (format::has_infinity ? 0 : 1);
  }
  double widened(std::uint32_t pattern) const {
    std::uint32_t const p = pattern & (sign - 1);
    double const y = is_nan(p)           ? std::nan("")
                     : p == value.size() ? std::numeric_limits<double>::infinity()
                                         : value[p];
    return pattern & sign ? -y : y;
  }
  // x is not NaN.
  std::uint32_t nearest(float x) const {
    double const a = std::fabs(static_cast<double>(x));
    std::uint32_t const s = std::signbit(x) ? sign : 0;
    auto const last = static_cast<std::uint32_t>(value.size() - 1);
    auto above =
        static_cast<std::uint32_t>(std::lower_bound(value.begin(), value.end(), a) - value.begin());
    if (above == 0) return s;
    double const hi = above > last ? beyond : value[above], lo = value[above - 1];
    bool const up = std::isinf(a) || a - lo > hi - a || (a - lo == hi - a && above % 2 == 0);
    std::uint32_t const y = up ? above : above - 1;
    return s | (y > last && !format::has_infinity ? last : y);
  }
};

float from_bits(std::uint32_t u) { return std::bit_cast<float>(u); }

template <class T> void check_patterns() {
  oracle<T> const know;
  int wrong = 0, seen = 0;
  std::uint32_t first = 0;
  for (std::uint32_t p = 0; p < 2 * oracle<T>::sign; ++p, ++seen) {
    T const x{static_cast<decltype(T::bits)>(p)};
    float const y = tk::widen(x);
    bool right;
    if (know.is_nan(p)) {
      right = std::isnan(y) && know.is_nan(tk::round_to<T>(y).bits);
    } else {
      double const expected = know.widened(p);
      right = y == expected && std::signbit(y) == std::signbit(expected);
      bool const saturates = std::isinf(expected) && !described<T>::has_infinity;
      right = right && !saturates && tk::round_to<T>(y).bits == x.bits;
    }
    if (!right && wrong++ == 0) first = p;
  }
  CAPTURE(first);
  CHECK(wrong == 0);
  CHECK(seen == 1 << 8 * sizeof(T));
}

template <class T> struct rounding {
  oracle<T> know;
  int wrong = 0;
  std::uint32_t first = 0;
  void at(float x) {
    std::uint32_t const y = tk::round_to<T>(x).bits;
    bool const right = std::isnan(x) ? know.is_nan(y) : y == know.nearest(x);
    if (!right && wrong++ == 0) first = std::bit_cast<std::uint32_t>(x);
  }
  void around(double exact) {
    auto const x = static_cast<float>(exact);
    for (float const s : {x, -x}) {
      at(s);
      at(std::nextafter(s, HUGE_VALF));
      at(std::nextafter(s, -HUGE_VALF));
    }
  }
  ~rounding() {
    CAPTURE(first);
    CHECK(wrong == 0);
  }
};

template <class T> void check_rounding() {
  rounding<T> check;
  auto const& value = check.know.value;
  for (std::size_t i = 0; i < value.size(); ++i) {
    double const next = i + 1 < value.size() ? value[i + 1] : check.know.beyond;
    REQUIRE(static_cast<float>((value[i] + next) / 2) == (value[i] + next) / 2);
    check.around(value[i]);
    check.around((value[i] + next) / 2);
  }
  std::mt19937 bits(20 + sizeof(T));
  for (int i = 0; i < 1'000'000; ++i) check.at(from_bits(static_cast<std::uint32_t>(bits())));
  // Random bits seldom hit the few magnitudes of a small format: spread some over them.
  double const top = std::log2(value.back()) + 2, bottom = std::log2(value[1]) - 3;
  std::uniform_real_distribution<double> exponent(bottom, top);
  for (int i = 0; i < 1'000'000; ++i) {
    double const x = std::exp2(exponent(bits));
    check.at(static_cast<float>(i % 2 ? x : -x));
  }
  for (std::uint32_t const u : {0u, 1u, 0x7fffffu, 0x800000u, 0x7f7fffffu, 0x7f800000u})
    for (std::uint32_t const s : {0u, 0x80000000u}) check.at(from_bits(u | s));
  // NaN stays NaN wherever its payload lies, also where only bits that are dropped hold it.
  for (int bit = 0; bit < 23; ++bit)
    for (std::uint32_t const s : {0u, 0x80000000u})
      check.at(from_bits(s | 0x7f800000u | 1u << bit));
}

}  // namespace

TEST_CASE("every pattern widens to its value and rounds back to itself") {
  SUBCASE("bf16") { check_patterns<tk::bf16>(); }
  SUBCASE("fp16") { check_patterns<tk::fp16>(); }
  SUBCASE("fp8 e4m3") { check_patterns<tk::fp8_e4m3>(); }
  SUBCASE("fp8 e5m2") { check_patterns<tk::fp8_e5m2>(); }
}

TEST_CASE("rounding goes to the nearest value, and to the even one halfway") {
  SUBCASE("bf16") { check_rounding<tk::bf16>(); }
  SUBCASE("fp16") { check_rounding<tk::fp16>(); }
  SUBCASE("fp8 e4m3") { check_rounding<tk::fp8_e4m3>(); }
  SUBCASE("fp8 e5m2") { check_rounding<tk::fp8_e5m2>(); }
}

TEST_CASE("landmarks of the formats") {
  CHECK(tk::widen(tk::bf16{0x3f80}) == 1.f);
  CHECK(tk::widen(tk::fp16{0x3c00}) == 1.f);
  CHECK(tk::widen(tk::fp16{0x7bff}) == 65504.f);
  CHECK(tk::widen(tk::fp8_e4m3{0x7e}) == 448.f);
  CHECK(tk::widen(tk::fp8_e5m2{0x7b}) == 57344.f);
  CHECK(tk::round_to<tk::fp8_e4m3>(HUGE_VALF).bits == 0x7e);
  CHECK(tk::round_to<tk::fp8_e5m2>(HUGE_VALF).bits == 0x7c);
  CHECK(tk::round_to<tk::fp16>(65519.996f).bits == 0x7bff);
  CHECK(tk::round_to<tk::fp16>(65520.f).bits == 0x7c00);
  CHECK(tk::round_to<float>(0.1f) == 0.1f);
}

TEST_CASE("a boolean is 0 or 1") {
  for (int byte = 0; byte < 256; ++byte)
    CHECK(tk::widen(tk::boolean{static_cast<std::uint8_t>(byte)}) == (byte != 0 ? 1.f : 0.f));
  for (float const x : {0.f, -0.f}) CHECK(tk::round_to<tk::boolean>(x).bits == 0);
  for (float const x : {1.f, -0.5f, HUGE_VALF}) CHECK(tk::round_to<tk::boolean>(x).bits == 1);
}
