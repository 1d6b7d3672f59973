// SPDX-License-Identifier: MIT
// From a checked problem to launches of quantise. quantise_run<T, F> is instantiated once for each
// row of ops/quantise/quantise.cmake, and largest_scale_run for all of them;
// ops/quantise/quantise.cpp chooses among them.
#pragma once
#include "ops/quantise/blocks.hpp"
#include "ops/quantise/quantise.hpp"
#include "ops/quantise/squares.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T, class F> struct quantise_run {
  static void launch(quantise_problem const& x, void* workspace, void* stream);
};
// Of fp32 numbers, which are x.
template <class T> struct largest_scale_run {
  static void launch(quantise_rows const& x, void* workspace, void* stream);
};

// Of so many matrices at a time that their squares can be counted.
template <class T, class F> void launch_squares(quantise_problem const& p, void* stream) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - (1 << 16);
  using op = quantise_squares<T, F>;
  static_assert(op::side == scale_block);
  auto const &x = p.x, &y = p.y;
  auto const& s = p.scale_stride;
  auto const columns = parts_of(x.width, op::side), squares = columns * parts_of(x.rows, op::side);
  if (squares == 0) return;
  auto const by = [](std::int64_t n) { return divisor(static_cast<std::uint32_t>(n)); };
  quantise_squares_args a{.x = x.data,
                          .y = y.data,
                          .scale = p.scale,
                          .x_stride = {x.outer_stride, x.middle_stride, x.row_stride},
                          .y_stride = {y.outer_stride, y.middle_stride, y.row_stride},
                          .scale_stride = {s[0], s[1], s[2], s[3]},
                          .columns = by(columns),
                          .squares = by(squares),
                          .middle = by(std::max<std::int64_t>(x.middle, 1)),
                          .first = 0,
                          .tasks = 0,
                          .rows = static_cast<int>(x.rows),
                          .width = static_cast<int>(x.width),
                          .x_vector_width = vector_width_of(rows_in<T>(x)),
                          .y_vector_width = vector_width_of(rows_in<F>(y)),
                          .power_of_two = p.power_of_two};
  std::int64_t const matrices = x.outer * x.middle,
                     at_once = std::max<std::int64_t>(most / squares, 1);
  for (std::int64_t first = 0; first < matrices; first += at_once) {
    a.first = static_cast<int>(first);
    a.tasks = static_cast<int>(std::min(at_once, matrices - first) * squares);
    be::launch<op>(a, stream);
  }
}

template <class T, class F>
void quantise_run<T, F>::launch(quantise_problem const& p, void* workspace, void* stream) {
  if (p.kind == scale_kind::by_128x128) return launch_squares<T, F>(p, stream);
  auto const over_x = [&](quantise_rows const& x) {
    row_problem<quantise<T, F>> rows{{x.given, p.power_of_two, x.y.data != nullptr}, {x.x}, {x.y}};
    rows.values[0] = x.scale;
    launch_rows(rows, workspace, stream);
  };
  auto const over_scales = [&](quantise_rows const& x) {
    largest_scale_run<float>::launch(x, workspace, stream);
  };
  quantise_launches(p, workspace, over_x, over_scales).make();
}

}  // namespace tk
