// SPDX-License-Identifier: MIT
// The problems that a chunk of `rows` rows from `first` on is made of. logits and the copy of x may
// be null where only sizes are asked.
#pragma once
#include "ops/gemm/problem.hpp"
#include "ops/linear_cross_entropy/problem.hpp"

namespace tk {

// y = x, and 0 in rows of this label.
struct ignored_rows_problem {
  row_tensor_view x, y, labels;
  std::int64_t label;
};
template <class T> struct ignored_rows_run {
  static void launch(ignored_rows_problem const& x, void* workspace, void* stream);
};

class linear_cross_entropy_chunk {
 public:
  linear_cross_entropy_chunk(linear_cross_entropy_problem const& x,
                             linear_cross_entropy_plan const& plan, void* logits, void* copy,
                             std::int64_t first, std::int64_t rows)
      : of_(x), first_(first), rows_(rows) {
    logits_ = {{logits, x.x.type}, 1, rows, x.w.rows, 0, plan.pitch};
    counted_x_ = rows_of(x.x);
    if (plan.x_pitch > 0) counted_x_.data = copy, counted_x_.row_stride = plan.x_pitch;
  }
  // logits = x w^T
  gemm_problem product() const {
    auto y = product_of(rows_of(of_.x), of_.w, logits_, of_.x.cols, 1);
    y.transpose_b = true;
    return y;
  }
  cross_entropy_problem losses() const {
    auto const scores = as_row_tensor(logits_);
    cross_entropy_problem y{};
    y.x = scores;
    if (of_.has_dx || of_.has_dw) y.dx = scores;
    y.labels = labels();
    y.loss = numbers_of(of_.loss, 4);
    y.lse = numbers_of(of_.lse, 4);
    y.terms = of_.terms;
    y.dloss_scale = 1;
    y.repeat = of_.repeat;
    return y;
  }
  // From here on logits are their gradients.
  gemm_problem dx() const {
    return product_of(logits_, of_.w, rows_of(of_.dx), logits_.cols, of_.dloss_scale);
  }
  // In dx of ignored rows NaN in w, in dw NaN in ignored rows of x would be left, times 0.
  ignored_rows_problem counted_dx() const {
    auto const dx = as_row_tensor(rows_of(of_.dx));
    return without_ignored(dx, dx);
  }
  ignored_rows_problem counted_x() const {
    return without_ignored(as_row_tensor(rows_of(of_.x)), as_row_tensor(counted_x_));
  }
  // Added to the chunks before.
  gemm_problem dw() const {
    auto y = product_of(logits_, counted_x_, of_.dw, rows_, of_.dloss_scale);
    y.transpose_a = true;
    y.repeat = repeat_kind::run;
    if (first_ > 0) y.c = of_.dw, y.beta = 1;
    return y;
  }

 private:
  gemm_problem product_of(matrix const& a, matrix const& b, matrix const& d, std::int64_t k,
                          float alpha) const {
    gemm_problem y{};
    y.a = a, y.b = b, y.d = d;
    y.batch = 1;
    y.m = d.rows, y.n = d.cols, y.k = k;
    y.alpha = alpha;
    y.repeat = of_.repeat;
    return y;
  }
  matrix rows_of(matrix x) const {
    auto const bytes = x.type == element::fp32 ? 4 : 2;
    if (x.data) x.data = static_cast<char*>(x.data) + first_ * x.row_stride * bytes;
    x.rows = rows_;
    return x;
  }
  static row_tensor_view as_row_tensor(matrix const& x) {
    return {{x.data, x.type}, 1, 1, x.rows, x.cols, 0, 0, x.row_stride};
  }
  row_tensor_view labels() const {
    return numbers_of(of_.labels, of_.labels.type == element::int64 ? 8 : 4);
  }
  ignored_rows_problem without_ignored(row_tensor_view const& x, row_tensor_view const& y) const {
    return {x, y, labels(), of_.terms.ignore_index};
  }
  row_tensor_view numbers_of(row_tensor_view x, std::int64_t bytes) const {
    if (x.data) x.data = static_cast<char*>(x.data) + first_ * x.row_stride * bytes;
    x.rows = rows_;
    return x;
  }

  linear_cross_entropy_problem const& of_;
  std::int64_t first_, rows_;
  matrix logits_, counted_x_;
};

}  // namespace tk
