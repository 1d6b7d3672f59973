// SPDX-License-Identifier: MIT
// How rates, their spread and their ratios are written, in tk_bench run and compare.
#pragma once
#include <string>

namespace tk::bench {

// Three significant digits, without an exponent: "0.0123", "1.20", "45.0", "812", "1234".
std::string three_digits(double x);

// The prefix that suits a rate: 1e12 "T", 1e9 "G" or 1e6 "M".
struct rate_unit {
  double size;
  std::string name;  // "TFLOP/s", "GB/s"
};
rate_unit unit_of(double per_second, char const* what);      // what: "FLOP/s", "B/s", "/s"
std::string rate_text(double per_second, char const* what);  // "9.53 GFLOP/s"

// A row is noisy where the quartiles of its times lie further apart than this share of their
// median; a ratio is, where one of its two rows is. Rates of a card that nothing else uses keep
// to 1 or 2 %.
inline constexpr double noisy_share = 0.05;
inline constexpr char noise_mark[] = "~";
inline bool is_noisy(double ms, double ms_iqr) { return ms_iqr > noisy_share * ms; }

// The spread beside a median: "2%", "<1%".
std::string spread_text(double ms, double ms_iqr);

}  // namespace tk::bench
