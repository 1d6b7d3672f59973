// SPDX-License-Identifier: MIT
// Rates have three significant digits and a unit that suits them, whatever their size; a row is
// noisy from the share on that is said.
#include "benchmarks/numbers.hpp"

#include <doctest/doctest.h>

namespace tk::bench {
namespace {

TEST_CASE("three significant digits") {
  CHECK(three_digits(0) == "0");
  CHECK(three_digits(0.0012345) == "0.00123");
  CHECK(three_digits(0.09996) == "0.100");
  CHECK(three_digits(1) == "1.00");
  CHECK(three_digits(9.994) == "9.99");
  CHECK(three_digits(9.996) == "10.0");
  CHECK(three_digits(45.25) == "45.2");
  CHECK(three_digits(99.96) == "100");
  CHECK(three_digits(812.4) == "812");
  CHECK(three_digits(999.6) == "1000");
  CHECK(three_digits(1234.5) == "1234");
  CHECK(three_digits(-2.5) == "-2.50");
}

TEST_CASE("the unit suits the number") {
  CHECK(rate_text(7.61e14, "FLOP/s") == "761 TFLOP/s");
  CHECK(rate_text(1.2e15, "FLOP/s") == "1200 TFLOP/s");
  CHECK(rate_text(1e12, "B/s") == "1.00 TB/s");
  CHECK(rate_text(9.997e11, "B/s") == "1.00 TB/s");
  CHECK(rate_text(9.99e11, "B/s") == "999 GB/s");
  CHECK(rate_text(9.53e9, "FLOP/s") == "9.53 GFLOP/s");
  CHECK(rate_text(4.78e8, "B/s") == "478 MB/s");
  CHECK(rate_text(1234, "B/s") == "0.00123 MB/s");
}

TEST_CASE("noise") {
  CHECK(is_noisy(1, 0.051) == true);
  CHECK(is_noisy(1, 0.049) == false);
  CHECK(is_noisy(2, 0.099) == false);
  CHECK(spread_text(1, 0.004) == "<1%");
  CHECK(spread_text(2, 0.1) == "5%");
  CHECK(spread_text(1, 3.5) == "350%");
}

}  // namespace
}  // namespace tk::bench
