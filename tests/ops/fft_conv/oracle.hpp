// SPDX-License-Identifier: MIT
// The oracle of the long convolution, by its definition, in double precision.
// Transforms spread errors evenly over a window, whatever an element's own value is. With d the
// usual relative error of a rounding (of numbers that are uniform: 0.38 of half a unit in the last
// place), the error of an element x * k is about
//   3 d |k| |x| / sqrt(size)    |.| the 2-norms, x of a window, size its elements
// from 8 roundings of fp16; where the type is bf16 these count for an eighth.
//   slack  8 times that, and the output's rounding
//   unit   what rounding the operands and the output commits: d of each term, and of y
#pragma once
#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "tests/ops/fft_conv/fft_conv.hpp"
#include "tests/support/parallel.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {

constexpr double usual_rounding = 0.38;
inline double rounding_of(dtype type) {
  return usual_rounding * (type == dtype::bf16 ? 0x1p-8 : 0x1p-11);
}

// Rows of an operand in double.
inline std::vector<double> row_of_operand(tensor const& x, std::int64_t row) {
  std::vector<double> y(static_cast<std::size_t>(x.cols()));
  read_row(x.type, x.image_row(row), x.cols(), y.data());
  return y;
}
inline std::vector<double> gated_row(tensor const& x, tensor const& gate, std::int64_t row) {
  auto y = row_of_operand(x, row);
  if (!gate.in) return y;
  auto const by = row_of_operand(gate, row);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= by[i];
  return y;
}
// The taps of a sequence's filter that reach an element of it.
inline std::vector<double> taps_of(tensor const& k, std::int64_t row, conv_case const& of) {
  auto y = row_of_operand(k, row % of.h / of.share);
  y.resize(static_cast<std::size_t>(std::min(of.nk, of.n)));
  return y;
}
// Sums over terms and what of it rounding commits.
struct conv_sum {
  double value = 0, squares = 0;
  void add(double x) { value += x, squares += x * x; }
};
// out[t] = sum over j of k[j] x[t - j], or x[t + j].
inline std::vector<conv_sum> convolve(std::vector<double> const& x, std::vector<double> const& k,
                                      bool circular, int direction) {
  auto const n = static_cast<std::int64_t>(x.size()), nk = static_cast<std::int64_t>(k.size());
  std::vector<conv_sum> y(x.size());
  // Terms of y[first, last) and one tap, x's from `from` on.
  auto const add = [&](double tap, std::int64_t first, std::int64_t last, std::int64_t from) {
    for (std::int64_t t = first; t < last; ++t)
      y[static_cast<std::size_t>(t)].add(tap * x[static_cast<std::size_t>(from + t - first)]);
  };
  for (std::int64_t j = 0; j < nk; ++j) {
    auto const tap = k[static_cast<std::size_t>(j)];
    if (tap == 0) continue;
    auto const by = std::min(j, n);  // what leaves at one end, and where circular comes back
    if (direction < 0) {
      add(tap, by, n, 0);
      if (circular) add(tap, 0, by, n - by);
    } else {
      add(tap, 0, n - by, by);
      if (circular) add(tap, n - by, n, 0);
    }
  }
  return y;
}

inline double norm_of(std::vector<double> const& x) {
  double sum = 0;
  for (double const e : x) sum += e * e;
  return std::sqrt(sum);
}
// The usual error of an element of a convolution with k.
inline double usual_error(std::vector<double> const& x, std::vector<double> const& k) {
  double const d = usual_rounding * 0x1p-11;
  auto const size = std::max<double>(16, static_cast<double>(x.size()));
  return 3 * d * norm_of(k) * norm_of(x) / std::sqrt(size);
}

// Adds a row whose elements are sums times a gate.
inline void judge_row(error_meter& meter, tensor const& out, std::int64_t row,
                      std::vector<conv_sum> const& sums, double usual,
                      std::vector<double> const* gate, int gates) {
  double const d = rounding_of(out.type);
  for (std::int64_t t = 0; t < out.cols(); ++t) {
    auto const& s = sums[static_cast<std::size_t>(t)];
    double const by = gate ? (*gate)[static_cast<std::size_t>(t)] : 1, exact = by * s.value;
    // Few taps are rounded to the type, and so are gated elements.
    double const of_terms = d * std::sqrt(s.squares);
    double const slack =
        std::fabs(by) * (8 * usual + 7 * of_terms) + 0x1p-22 * std::fabs(exact) + fp32_least_normal;
    double const commits =
        std::sqrt(gates * s.squares * by * by * d * d + (gate ? exact * exact * d * d : 0) +
                  std::pow(rounded(out.type, exact) - exact, 2));
    meter.add(row, t, decode(out.type, out.result_row(row) + t * bytes_of(out.type)), exact, slack,
              commits, 0);
  }
}

inline verdict compare(conv_operands const& x) {
  auto const& c = x.of;
  error_meter all(c.type);
  std::vector<error_meter> meters(static_cast<std::size_t>(c.b * c.h), error_meter(c.type));
  parallel_for(c.b * c.h, [&](std::int64_t row) {
    auto const u = gated_row(x.u, x.pre, row);
    auto const k = taps_of(x.k, row, c);
    auto const post = c.post ? row_of_operand(x.post, row) : std::vector<double>{};
    judge_row(meters[static_cast<std::size_t>(row)], x.y, row, convolve(u, k, c.circular, -1),
              usual_error(u, k), c.post ? &post : nullptr, c.pre ? 2 : 1);
  });
  for (auto const& m : meters) all.merge(m);
  return all.judge("y", 2);
}

// dk[j] = sum over t of g[t + j] x[t], added to what other sequences gave.
inline void correlate(std::vector<conv_sum>& dk, std::vector<double> const& g,
                      std::vector<double> const& x, conv_case const& of) {
  std::size_t const n = x.size();
  bool const circular = of.circular;
  for (std::size_t j = 0; j < dk.size() && j < n; ++j) {
    if (!of.is_tap(static_cast<std::int64_t>(j))) continue;
    for (std::size_t t = 0; t + j < n; ++t) dk[j].add(g[t + j] * x[t]);
    if (!circular) continue;
    for (std::size_t t = n - j; t < n; ++t) dk[j].add(g[t + j - n] * x[t]);
  }
}

inline verdict compare(conv_backward_operands const& x) {
  auto const& c = x.of;
  std::vector<error_meter> meters(3, error_meter(c.type));
  error_meter of_dk(dtype::fp32);
  std::mutex merging;
  int const gates = c.pre || c.post ? 2 : 1;
  parallel_for(c.b * c.h, [&](std::int64_t row) {
    auto const g = gated_row(x.dy, x.post, row), in = gated_row(x.u, x.pre, row);
    auto const k = taps_of(x.k, row, c), u = row_of_operand(x.u, row);
    error_meter du(c.type), dpre(c.type), dpost(c.type);
    auto const r = convolve(g, k, c.circular, 1);
    double const usual = usual_error(g, k);
    auto const pre = c.pre ? row_of_operand(x.pre, row) : std::vector<double>{};
    judge_row(du, x.du, row, r, usual, c.pre ? &pre : nullptr, gates);
    if (c.pre) judge_row(dpre, x.dpre, row, r, usual, &u, gates);
    if (c.post) {
      auto const dy = row_of_operand(x.dy, row);
      judge_row(dpost, x.dpost, row, convolve(in, k, c.circular, -1), usual_error(in, k), &dy,
                gates);
    }
    std::lock_guard const lock(merging);
    meters[0].merge(du), meters[1].merge(dpre), meters[2].merge(dpost);
  });
  // A filter's gradient is summed over sequences, whose errors are independent.
  std::vector<error_meter> filters(static_cast<std::size_t>(c.filters()), of_dk);
  parallel_for(c.filters(), [&](std::int64_t f) {
    std::vector<conv_sum> dk(static_cast<std::size_t>(c.nk));
    double squares = 0;
    for (std::int64_t i = 0; i < c.b * c.share; ++i) {
      std::int64_t const row = i / c.share * c.h + f * c.share + i % c.share;
      auto const g = gated_row(x.dy, x.post, row), in = gated_row(x.u, x.pre, row);
      correlate(dk, g, in, c);
      squares += std::pow(usual_error(in, g), 2);
    }
    double const d = usual_rounding * 0x1p-11, usual = 1.5 * std::sqrt(squares);
    for (std::int64_t j = 0; j < c.nk; ++j) {
      if (!c.is_tap(j)) continue;
      auto const& s = dk[static_cast<std::size_t>(j)];
      double const got = decode(dtype::fp32, x.dk.result_row(f) + 4 * j);
      double const slack = 8 * usual + 0x1p-22 * std::fabs(s.value) + fp32_least_normal;
      filters[static_cast<std::size_t>(f)].add(f, j, got, s.value, j < c.n ? slack : 0,
                                               std::sqrt(2 * s.squares) * d, 0);
    }
  });
  for (auto const& m : filters) of_dk.merge(m);
  verdict all;
  auto const judge = [&](error_meter const& m, char const* what, double factor) {
    auto const v = m.judge(what, factor);
    if (all.ok()) all.wrong = v.wrong;
    all.compared += v.compared;
    all.share = std::max(all.share, v.share);
  };
  judge(meters[0], "du", 2);
  judge(meters[1], "dpre", 2);
  judge(meters[2], "dpost", 2);
  // In roundings to fp16, of which one to bf16 is eight.
  judge(of_dk, "dk", c.type == dtype::bf16 ? 4 : 3);
  return all;
}

}  // namespace tk::test
