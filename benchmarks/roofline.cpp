// SPDX-License-Identifier: MIT
// The roofline plot: operations per second over operations per byte, both logarithmic. A file's
// roof is what its copies and its products allow (Williams, Waterman and Patterson, 2009); each
// case that both multiplies and moves is a point. Colours tell files apart, shapes suites.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/compare.hpp"
#include "benchmarks/numbers.hpp"

namespace tk::bench {
namespace {

constexpr double width = 960, height = 520, left = 70, right = 30, top = 20, bottom = 50;

// A logarithmic axis over whole decades.
struct axis {
  double low = HUGE_VAL, high = 0, from, to;  // the values seen, where their ends are drawn
  void see(double x) {
    if (x <= 0) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  void round_out() {
    if (high == 0) low = high = 1;
    low = std::pow(10, std::floor(std::log10(low)));
    high = std::max(10 * low, std::pow(10, std::ceil(std::log10(high))));
  }
  double at(double x) const {
    return from + (to - from) * std::log(x / low) / std::log(high / low);
  }
};

std::string grid(axis const& x, axis const& y) {
  std::string svg;
  auto const line = [&](bool upright, double at, char const* kind) {
    svg += upright
               ? fmt::format(R"(<path class="{}" d="M{:.1f} {} V{}"/>)", kind, at, y.to, y.from)
               : fmt::format(R"(<path class="{}" d="M{} {:.1f} H{}"/>)", kind, x.from, at, x.to);
  };
  auto const walk = [&](axis const& a, bool upright) {
    for (double decade = a.low; decade <= a.high * 1.001; decade *= 10) {
      double const at = a.at(decade);
      line(upright, at, "grid");
      svg += upright ? fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)",
                                   at, y.from + 18, decade)
                     : fmt::format(R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)",
                                   x.from - 8, at + 4, decade);
      for (int n = 2; n < 10 && decade * n < a.high; ++n) line(upright, a.at(decade * n), "fine");
    }
  };
  walk(x, true);
  walk(y, false);
  return svg +
         fmt::format(R"(<text x="{}" y="{}" text-anchor="middle">FLOP per byte</text>)",
                     (x.from + x.to) / 2, height - 10) +
         fmt::format(
             "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">"
             "TFLOP/s</text>\n",
             (y.from + y.to) / 2);
}

std::string roof(result_ceilings const& c, axis const& x, axis const& y,
                 std::string const& colour) {
  if (c.copy_bytes_per_s <= 0) return "";
  double const slope = c.copy_bytes_per_s / 1e12;
  double const flat = c.product_flops_per_s > 0 ? c.product_flops_per_s / 1e12 : y.high;
  double const begin = std::max(x.low, y.low / slope), ridge = std::min(x.high, flat / slope);
  if (begin >= ridge) return "";
  std::string path = fmt::format("M{:.1f} {:.1f} L{:.1f} {:.1f}", x.at(begin), y.at(begin * slope),
                                 x.at(ridge), y.at(ridge * slope));
  if (c.product_flops_per_s > 0) path += fmt::format(" H{:.1f}", x.to);
  return fmt::format(R"(<path class="roof" stroke="{}" d="{}"/>)", colour, path) + "\n";
}

std::string mark(std::size_t suite, double x, double y, std::string const& colour) {
  switch (suite % 4) {
    case 0: return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" fill="{}">)", x, y, colour);
    case 1:
      return fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="8" height="8" fill="{}">)", x - 4,
                         y - 4, colour);
    case 2:
      return fmt::format(R"(<path d="M{:.1f} {:.1f} l5 9 h-10 z" fill="{}">)", x, y - 5, colour);
    default:
      return fmt::format(R"(<path d="M{:.1f} {:.1f} l5 5 l-5 5 l-5 -5 z" fill="{}">)", x, y - 5,
                         colour);
  }
}
constexpr char const* mark_ends[] = {"</circle>", "</rect>", "</path>", "</path>"};

bool is_point(result_row const& x) {
  return x.implementation == "tk" && x.flops > 0 && x.bytes > 0;
}

}  // namespace

std::string colour_of(std::size_t file) {  // Okabe and Ito, told apart by the colour-blind
  constexpr char const* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#7f7f7f", "#b2a000"};
  return colours[file % std::size(colours)];
}

std::string roofline_svg(std::vector<result> const& files) {
  axis x, y;
  for (result const& file : files) {
    double const copy = file.ceilings.copy_bytes_per_s, product = file.ceilings.product_flops_per_s;
    if (copy > 0 && product > 0) x.see(product / copy);
    y.see(product / 1e12);
    for (result_row const& r : file.rows) {
      if (!is_point(r)) continue;
      x.see(r.intensity());
      y.see(r.flops / r.ms / 1e9);
    }
  }
  x.round_out();
  y.round_out();
  x.from = left, x.to = width - right;
  y.from = height - bottom, y.to = top;

  auto const suites = suites_of(files);
  std::string svg =
      fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="roofline">)", width, height) +
      "\n" + grid(x, y);
  for (std::size_t i = 0; i < files.size(); ++i) svg += roof(files[i].ceilings, x, y, colour_of(i));
  for (std::size_t i = 0; i < files.size(); ++i)
    for (result_row const& r : files[i].rows) {
      if (!is_point(r)) continue;
      auto const suite = static_cast<std::size_t>(std::find(suites.begin(), suites.end(), r.suite) -
                                                  suites.begin());
      double const rate = r.flops / r.ms / 1e9;
      svg += mark(suite, x.at(r.intensity()), y.at(rate), colour_of(i)) +
             fmt::format("<title>{} {}, file {}: {}</title>", escaped(r.suite), escaped(r.name),
                         i + 1, rate_text(1e12 * rate, "FLOP/s")) +
             mark_ends[suite % 4] + "\n";
    }
  return svg + "</svg>\n";
}

}  // namespace tk::bench
