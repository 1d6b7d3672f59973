// SPDX-License-Identifier: MIT
// The problems that a chunk of `rows` rows from `first` on is made of. logits may be null where
// only sizes are asked.
#pragma once
#include "ops/gemm/problem.hpp"
#include "ops/linear_cross_entropy/problem.hpp"

namespace tk {

class linear_cross_entropy_chunk {
 public:
  linear_cross_entropy_chunk(linear_cross_entropy_problem const& x, std::int64_t pitch,
                             void* logits, std::int64_t first, std::int64_t rows)
      : of_(x), first_(first), rows_(rows) {
    logits_ = {{logits, x.x.type}, 1, rows, x.w.rows, 0, pitch};
  }
  // logits = x w^T
  gemm_problem product() const {
    auto y = product_of(rows_of(of_.x), of_.w, logits_, of_.x.cols, 1);
    y.transpose_b = true;
    return y;
  }
  cross_entropy_problem losses() const {
    row_tensor_view scores{logits_, 1, 1, rows_, logits_.cols, 0, 0, logits_.row_stride};
    cross_entropy_problem y{};
    y.x = scores;
    if (of_.has_dx || of_.has_dw) y.dx = scores;
    y.labels = numbers_of(of_.labels, of_.labels.type == element::int64 ? 8 : 4);
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
  // Added to the chunks before.
  gemm_problem dw() const {
    auto y = product_of(logits_, rows_of(of_.x), of_.dw, rows_, of_.dloss_scale);
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
  row_tensor_view numbers_of(row_tensor_view x, std::int64_t bytes) const {
    if (x.data) x.data = static_cast<char*>(x.data) + first_ * x.row_stride * bytes;
    x.rows = rows_;
    return x;
  }

  linear_cross_entropy_problem const& of_;
  std::int64_t first_, rows_;
  matrix logits_;
};

}  // namespace tk
