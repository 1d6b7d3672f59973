// SPDX-License-Identifier: MIT
// One case of tk_cross_entropy_backward; its oracle is in oracle.hpp.
#pragma once
#include "ops/cross_entropy/cross_entropy_backward.h"
#include "tests/ops/cross_entropy/oracle.hpp"

namespace tk::test {

struct cross_entropy_backward_operands;

struct cross_entropy_backward_case {
  using operands = cross_entropy_backward_operands;
  row_shape shape;
  dtype type = dtype::bf16, label_type = dtype::int64;
  ignored_label ignored = ignored_label::none;
  far_labels outside = far_labels::none;
  float smoothing = 0, z_loss = 0, softcap = 0;
  double mean = 0, size = 4;  // of x's elements: uniform in mean +- size
  row_place dx_place = row_place::apart;
  matrix_layout x_layout = {}, labels_layout = {}, lse_layout = {}, dloss_layout = {},
                dx_layout = {};
};

inline std::string describe(cross_entropy_backward_case const& x) {
  std::ostringstream s;
  s << "cross entropy backward ";
  describe_options(s, x);
  if (x.dx_place == row_place::on_first) s << " dx on x";
  describe(s, "x", x.x_layout);
  describe(s, "labels", x.labels_layout);
  describe(s, "lse", x.lse_layout);
  describe(s, "dloss", x.dloss_layout);
  describe(s, "dx", x.dx_layout);
  return s.str();
}

struct cross_entropy_backward_operands {
  explicit cross_entropy_backward_operands(cross_entropy_backward_case const& x);
  cross_entropy_backward_operands(cross_entropy_backward_operands const&) = delete;

  cross_entropy_backward_case of;
  world memories;
  tensor x, labels, lse, dloss, dx;
  static constexpr row_operand<cross_entropy_backward_operands> table[] = {
      {"x", &cross_entropy_backward_operands::x},
      {"labels", &cross_entropy_backward_operands::labels},
      {"lse", &cross_entropy_backward_operands::lse},
      {"dloss", &cross_entropy_backward_operands::dloss},
      {"dx", &cross_entropy_backward_operands::dx, true}};
};

// lse is the row's own and up to 1/4 more or less, so that one found anew would show.
inline cross_entropy_backward_operands::cross_entropy_backward_operands(
    cross_entropy_backward_case const& c)
    : of(c), memories(3) {
  bool const in_place = c.dx_place != row_place::apart;
  auto const each = shape_of_each(c.shape);
  x = place_rows(memories, c.type, c.shape, c.x_layout, in_place ? role::output : role::input);
  fill_uniform(x, 21, c.mean, c.size);
  labels = place_rows(memories, c.label_type, each, c.labels_layout, role::input);
  fill_labels(labels, c);
  lse = place_rows(memories, dtype::fp32, each, c.lse_layout, role::input);
  parallel_for(x.rows(), [&](std::int64_t r) {
    double const own = loss_of_row(options_of(c), given_row(x, r), {}).lse().exact;
    set(lse, r, 0, own + random_unit(23, static_cast<std::uint64_t>(r)) / 4);
  });
  dloss = place_rows(memories, dtype::fp32, each, c.dloss_layout, role::input);
  fill_uniform(dloss, 24, 0, 2);
  dx = in_place ? x : output_rows(memories, c.type, c.shape, c.dx_layout);
}

template <class Body>
std::string with_problem(cross_entropy_backward_operands const& x, Body const& body) {
  cross_entropy_backward_case const& c = x.of;
  DLTensor const in = x.x.dl(), labels = without_last(x.labels), lse = without_last(x.lse),
                 dloss = without_last(x.dloss), dx = x.dx.dl();
  tk_cross_entropy_backward_problem p{};
  p.size = sizeof p;
  p.x = &in;
  p.labels = &labels;
  p.lse = &lse;
  p.dloss = &dloss;
  p.dx = &dx;
  p.ignore_index = ignore_index(c);
  p.has_ignore_index = c.ignored != ignored_label::none;
  p.label_smoothing = c.smoothing;
  p.z_loss = c.z_loss;
  p.softcap = c.softcap;
  return body(called_op{TK_OP_CROSS_ENTROPY_BACKWARD, tk_cross_entropy_backward},
              static_cast<tk_cross_entropy_backward_problem const*>(&p));
}

// A dloss that is infinite gives NaN or infinities.
inline void check_row(cross_entropy_backward_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  cross_entropy_backward_case const& c = x.of;
  loss_of_row const exact(options_of(c), given_row(x.x, row),
                          column_of_label(x.labels, row, c.shape.width));
  bool const ignored = is_ignored(c, x.labels, row);
  double const lse = given_row(x.lse, row)[0], dloss = given_row(x.dloss, row)[0];
  for (std::int64_t col = 0; col < c.shape.width; ++col) {
    auto const of_col =
        ignored ? bounded{} : exact.gradient(static_cast<std::size_t>(col), {lse, 0}, dloss);
    double const got = result_at(x.dx, row, col);
    if (!ignored && std::isinf(dloss) && !std::isfinite(got))
      meters[0].add(row, col, got, got, 0, 0, 0);
    else add_to(meters[0], x.dx, row, col, of_col);
  }
}

}  // namespace tk::test
