// SPDX-License-Identifier: MIT
// Gradients against finite differences of the definition in double precision: the loss
// sum o dout + final_state dfinal_state + final_sums dfinal_sums, and each number of q, k, v, the
// initial state and its sums moved up and down. States are of the definition's own moments, in the
// order that based.h says.
#include "tests/ops/based/backward.hpp"

namespace tk::test {
namespace {

using numbers = std::vector<double>;

struct head_problem {
  std::int64_t n, dv;
  double scale;
  bool normalise;
  numbers q, k, v, dout, initial, dfinal, initial_sums, dfinal_sums;

  double dot(double const* a, double const* b) const {
    double sum = 0;
    for (std::int64_t c = 0; c < based_width; ++c) sum += a[c] * b[c];
    return sum;
  }
  // 1 + s + s^2 / 2 of a query with moments, by based.h's numbering of rows.
  double met(double const* q_t, auto const& moment) const {
    double sum = moment(0);
    for (std::int64_t a = 0; a < based_width; ++a) sum += scale * q_t[a] * moment(1 + a);
    for (std::int64_t a = 0; a < based_width; ++a)
      for (std::int64_t c = a; c < based_width; ++c)
        sum += scale * scale * (a == c ? 0.5 : 1) * q_t[a] * q_t[c] *
               moment(17 + 16 * a - a * (a - 1) / 2 + c - a);
    return sum;
  }
  double loss() const {
    double sum = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      double const* const q_t = q.data() + t * based_width;
      numbers o(static_cast<std::size_t>(dv));
      double z =
          met(q_t, [&](std::int64_t r) { return initial_sums[static_cast<std::size_t>(r)]; });
      for (std::int64_t c = 0; c < dv; ++c)
        o[static_cast<std::size_t>(c)] =
            met(q_t, [&](std::int64_t r) { return initial[static_cast<std::size_t>(r * dv + c)]; });
      for (std::int64_t j = 0; j <= t; ++j) {
        double const s = scale * dot(q_t, k.data() + j * based_width), p = 1 + s + s * s / 2;
        z += p;
        for (std::int64_t c = 0; c < dv; ++c)
          o[static_cast<std::size_t>(c)] += p * v[static_cast<std::size_t>(j * dv + c)];
      }
      for (std::int64_t c = 0; c < dv; ++c)
        sum += o[static_cast<std::size_t>(c)] / (normalise ? z + 1e-6 : 1) *
               dout[static_cast<std::size_t>(t * dv + c)];
    }
    for (std::int64_t t = 0; t < n; ++t) {
      double moments[based_moment_count];
      moments_of(moments, k.data() + t * based_width);
      for (std::int64_t r = 0; r < based_moment_count; ++r) {
        if (normalise) sum += moments[r] * dfinal_sums[static_cast<std::size_t>(r)];
        for (std::int64_t c = 0; c < dv; ++c)
          sum += moments[r] * v[static_cast<std::size_t>(t * dv + c)] *
                 dfinal[static_cast<std::size_t>(r * dv + c)];
      }
    }
    for (std::size_t i = 0; i < initial.size(); ++i) sum += initial[i] * dfinal[i];
    for (std::size_t i = 0; normalise && i < initial_sums.size(); ++i)
      sum += initial_sums[i] * dfinal_sums[i];
    return sum;
  }
};

numbers rows_of(tensor const& x, dtype type, std::int64_t first, std::int64_t count,
                std::int64_t step) {
  std::int64_t const cols = x.cols();
  numbers y(static_cast<std::size_t>(count * cols));
  for (std::int64_t r = 0; r < count; ++r)
    read_row(type, x.image_row(first + r * step), cols, y.data() + r * cols);
  return y;
}

void check(char const* what, head_problem& x, numbers& moved, tensor const& got, std::int64_t first,
           std::int64_t step, std::size_t stride) {
  double worst = 0, norm = 0;
  auto const cols = static_cast<std::size_t>(got.cols());
  for (std::size_t i = 0; i < moved.size(); i += stride) {
    double const was = moved[i], by = 1e-4;
    moved[i] = was + by;
    double const above = x.loss();
    moved[i] = was - by;
    double const below = x.loss();
    moved[i] = was;
    double const exact = (above - below) / (2 * by);
    auto const row = first + static_cast<std::int64_t>(i / cols) * step;
    double const is = decode(
        got.type, got.result_row(row) + static_cast<std::int64_t>(i % cols) * bytes_of(got.type));
    worst = std::max(worst, std::fabs(is - exact)), norm = std::max(norm, std::fabs(exact));
  }
  INFO(what << ": off by " << worst << " of " << norm);
  CHECK(norm > 0);
  CHECK(worst <= norm * 0x1p-5);
}

void check_gradients(bool normalise, double scale) {
  based_case c{.n = 9, .h = 2, .dv = 16, .normalise = normalise, .states = true};
  c.scale = static_cast<float>(scale);
  backward_operands x(c);
  REQUIRE(launch_twice(x) == "");
  for (std::int64_t head = 0; head < c.h; ++head) {
    std::int64_t const m = based_moment_count;
    auto const tokens = [&](tensor const& t) { return rows_of(t, c.type, head, c.n, c.h); };
    auto const state = [&](tensor const& t) { return rows_of(t, dtype::fp32, head * m, m, 1); };
    auto const sums = [&](tensor const& t) {
      return t.in ? rows_of(t, dtype::fp32, head, 1, 1) : numbers(static_cast<std::size_t>(m));
    };
    head_problem p{c.n,
                   c.dv,
                   c.scale,
                   normalise,
                   tokens(x.q),
                   tokens(x.k),
                   tokens(x.v),
                   tokens(x.dout),
                   state(x.initial),
                   state(x.dfinal),
                   sums(x.initial_sums),
                   sums(x.dfinal_sums)};
    check("dq", p, p.q, x.dq, head, c.h, 1);
    check("dk", p, p.k, x.dk, head, c.h, 1);
    check("dv", p, p.v, x.dv, head, c.h, 1);
    check("dinitial_state", p, p.initial, x.dinitial, head * m, 1, 7);
    if (normalise) check("dinitial_sums", p, p.initial_sums, x.dinitial_sums, head, 1, 1);
  }
}

TEST_CASE("gradients of Based are those of its definition") {
  for (bool const normalise : {false, true})
    for (double const scale : {0.25, -0.4}) check_gradients(normalise, scale);
}

}  // namespace
}  // namespace tk::test
