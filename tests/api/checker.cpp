// SPDX-License-Identifier: MIT
// The tests' own tests: conversions and the oracles' product against plainer ones, and norms of
// errors.
#include "tests/support/product.hpp"
#include "tests/support/random.hpp"
#include "tests/support/suite.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {
namespace {

TEST_CASE("conversions") {
  for (dtype const t : {dtype::bf16, dtype::fp16}) {
    int numbers = 0, faults = 0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      auto const value = [&](std::uint32_t pattern) {
        std::byte p[4];
        std::memcpy(p, &pattern, 4);
        return decode(t, p);
      };
      double const x = value(bits), next = value((bits + 1) & 0xffff);
      if (std::isnan(x)) continue;
      std::byte back[4];
      encode(t, rounded(t, x), back);
      faults += std::memcmp(back, &bits, 2) != 0;
      if (!std::isfinite(x) || !std::isfinite(next) || next == 0) continue;
      // Halfway to the next number: the even one. A little less, a little more: the nearer one.
      double const middle = (x + next) / 2, little = (next - x) / 1024;
      faults += rounded(t, middle) != (bits % 2 ? next : x);
      faults += rounded(t, middle - little) != x;
      faults += rounded(t, middle + little) != next;
      ++numbers;
    }
    CHECK(numbers > 60000);
    CHECK(faults == 0);
  }
  CHECK(rounded(dtype::fp16, 65519.9) == 65504);
  CHECK(rounded(dtype::fp16, 65520.0) == HUGE_VAL);
  CHECK(rounded(dtype::fp16, -1e9) == -HUGE_VAL);
  CHECK(rounded(dtype::fp32, 1 + 0x1p-24) == 1);
  CHECK(rounded(dtype::fp32, 1 + 0x1p-24 + 0x1p-50) == 1 + 0x1p-23);
  CHECK(rounded(dtype::fp32, 0x1p-149 * 0.75) == 0x1p-149);
}

TEST_CASE("the oracles' product") {
  std::int64_t const m = 11, n = 37, k = 23;
  panels b(k, n);
  std::vector<double> a(m * k), c(m * panels::padded(n));
  for (std::int64_t i = 0; i < m * k; ++i) a[i] = random_below(9, 1, i) - 4.0;
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t j = 0; j < n; ++j) b.at(l, j) = random_below(9, 2, l * n + j) - 4.0;
  for (std::int64_t const depth : {std::int64_t{0}, k / 2, k}) {
    b.multiply(c.data(), a.data(), k, m, depth);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < depth; ++l) sum += a[i * k + l] * b.at(l, j);
        REQUIRE(c[i * panels::padded(n) + j] == sum);
      }
  }
}

TEST_CASE("norms find what every element hides") {
  error_meter meter(dtype::fp16);
  for (int i = 0; i < 1000; ++i) {
    double const exact = 1 + i * 0x1p-14, unit = rounded(dtype::fp16, exact) - exact;
    meter.add(0, i, exact + 0x1p-9, exact, 0x1p-8, unit, 0);  // within the slack, thrice the unit
  }
  CHECK(!meter.judge("x", 1.1).ok());
  CHECK(meter.judge("x", 100).ok());
}

}  // namespace
}  // namespace tk::test
