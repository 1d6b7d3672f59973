// SPDX-License-Identifier: MIT
// Text of numbers (numbers.hpp).
#include "benchmarks/numbers.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tk::bench {

std::string three_digits(double x) {
  if (x == 0 || !std::isfinite(x)) return fmt::format("{:g}", x);
  double const size = std::fabs(x);
  int digits = 2 - static_cast<int>(std::floor(std::log10(size)));
  if (size >= std::pow(10, 3 - digits) - 0.5 * std::pow(10, -digits)) --digits;  // 9.996: "10.0"
  return fmt::format("{:.{}f}", x, digits > 0 ? digits : 0);
}

rate_unit unit_of(double per_second, char const* what) {
  for (auto const& [size, prefix] : {std::pair{1e12, "T"}, std::pair{1e9, "G"}})
    if (per_second >= 0.9995 * size) return {size, std::string(prefix) + what};
  return {1e6, std::string("M") + what};
}

std::string rate_text(double per_second, char const* what) {
  auto const unit = unit_of(per_second, what);
  return three_digits(per_second / unit.size) + " " + unit.name;
}

std::string spread_text(double ms, double ms_iqr) {
  double const percent = 100 * ms_iqr / ms;
  return percent < 1 ? "<1%" : fmt::format("{:.0f}%", percent);
}

}  // namespace tk::bench
