// SPDX-License-Identifier: MIT
// One case of tk_cross_entropy; its oracle is in oracle.hpp.
#pragma once
#include "ops/cross_entropy/cross_entropy.h"
#include "tests/ops/cross_entropy/oracle.hpp"

namespace tk::test {

struct cross_entropy_operands;

struct cross_entropy_case {
  using operands = cross_entropy_operands;
  row_shape shape;
  dtype type = dtype::bf16, label_type = dtype::int64;
  ignored_label ignored = ignored_label::none;
  far_labels outside = far_labels::none;
  float smoothing = 0, z_loss = 0, softcap = 0, dloss_scale = 1;
  bool store_lse = false, store_dx = false;
  bool holes = false;         // logits of -inf: one in five, and all of every fourth row
  double mean = 0, size = 4;  // of x's elements: uniform in mean +- size
  row_place dx_place = row_place::apart;
  matrix_layout x_layout = {}, labels_layout = {}, loss_layout = {}, lse_layout = {},
                dx_layout = {};
};

inline std::string describe(cross_entropy_case const& x) {
  std::ostringstream s;
  s << "cross entropy ";
  describe_options(s, x);
  s << (x.holes ? " holes" : "") << (x.store_lse ? " +lse" : "");
  if (x.store_dx)
    s << " +dx * " << x.dloss_scale << (x.dx_place == row_place::on_first ? " on x" : "");
  describe(s, "x", x.x_layout);
  describe(s, "labels", x.labels_layout);
  describe(s, "loss", x.loss_layout);
  describe(s, "lse", x.lse_layout);
  describe(s, "dx", x.dx_layout);
  return s.str();
}

struct cross_entropy_operands {
  explicit cross_entropy_operands(cross_entropy_case const& x);
  cross_entropy_operands(cross_entropy_operands const&) = delete;

  cross_entropy_case of;
  world memories;
  tensor x, labels, loss, lse, dx;
  static constexpr row_operand<cross_entropy_operands> table[] = {
      {"x", &cross_entropy_operands::x},
      {"labels", &cross_entropy_operands::labels},
      {"loss", &cross_entropy_operands::loss, true},
      {"lse", &cross_entropy_operands::lse, true},
      {"dx", &cross_entropy_operands::dx, true}};
};

inline cross_entropy_operands::cross_entropy_operands(cross_entropy_case const& c)
    : of(c), memories(3) {
  bool const in_place = c.store_dx && c.dx_place != row_place::apart;
  auto const each = shape_of_each(c.shape);
  x = place_rows(memories, c.type, c.shape, c.x_layout, in_place ? role::output : role::input);
  fill_uniform(x, 21, c.mean, c.size);
  if (c.holes)
    parallel_for(x.rows(), [&](std::int64_t r) {
      for (std::int64_t col = 0; col < x.cols(); ++col)
        if (r % 4 == 1 ||
            random_below(5, 33, static_cast<std::uint64_t>(x.row_offset(r) + col)) == 0)
          set(x, r, col, -HUGE_VAL);
    });
  labels = place_rows(memories, c.label_type, each, c.labels_layout, role::input);
  fill_labels(labels, c);
  loss = output_rows(memories, dtype::fp32, each, c.loss_layout);
  if (c.store_lse) lse = output_rows(memories, dtype::fp32, each, c.lse_layout);
  if (c.store_dx) dx = in_place ? x : output_rows(memories, c.type, c.shape, c.dx_layout);
}

template <class Body> std::string with_problem(cross_entropy_operands const& x, Body const& body) {
  cross_entropy_case const& c = x.of;
  DLTensor const in = x.x.dl(), labels = without_last(x.labels), loss = without_last(x.loss),
                 lse = x.lse.in ? without_last(x.lse) : DLTensor{},
                 dx = x.dx.in ? x.dx.dl() : DLTensor{};
  tk_cross_entropy_problem p{};
  p.size = sizeof p;
  p.x = &in;
  p.labels = &labels;
  p.loss = &loss;
  p.lse = x.lse.in ? &lse : nullptr;
  p.dx = x.dx.in ? &dx : nullptr;
  p.ignore_index = ignore_index(c);
  p.has_ignore_index = c.ignored != ignored_label::none;
  p.label_smoothing = c.smoothing;
  p.z_loss = c.z_loss;
  p.softcap = c.softcap;
  p.dloss_scale = c.dloss_scale;
  return body(called_op{TK_OP_CROSS_ENTROPY, tk_cross_entropy},
              static_cast<tk_cross_entropy_problem const*>(&p));
}

// Of a row with NaN or +inf lse is any of these.
inline void check_row(cross_entropy_operands const& x, std::int64_t row,
                      std::span<error_meter> meters) {
  cross_entropy_case const& c = x.of;
  loss_of_row const exact(options_of(c), given_row(x.x, row),
                          column_of_label(x.labels, row, c.shape.width));
  bool const ignored = is_ignored(c, x.labels, row);
  std::size_t at = 0;
  add_to(meters[at++], x.loss, row, 0, ignored ? bounded{} : exact.loss());
  if (x.lse.in) {
    double const got = result_at(x.lse, row, 0);
    auto& meter = meters[at++];
    if (exact.is_nan() && got == HUGE_VAL) meter.add(row, 0, got, got, 0, 0, 0);
    else add_to(meter, x.lse, row, 0, exact.lse());
  }
  if (!x.dx.in) return;
  for (std::int64_t col = 0; col < c.shape.width; ++col)
    add_to(meters[at], x.dx, row, col,
           ignored ? bounded{}
                   : exact.gradient(static_cast<std::size_t>(col), exact.lse(),
                                    static_cast<double>(c.dloss_scale)));
}

}  // namespace tk::test
