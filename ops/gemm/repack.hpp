// SPDX-License-Identifier: MIT
// A copy of a matrix whose rows begin where the chip's loads are fast. dst = src, [batch, rows,
// cols], any elements of T's size; rows of dst begin at multiples of 16 bytes, and what follows a
// row up to there becomes zero. Both are read and written once, by the workers themselves.
#pragma once
#include "backends/kernel.hpp"
#include "core/move.hpp"
#include "core/schedule.hpp"
#include "ops/gemm/problem.hpp"
#include "ops/gemm/tuning.hpp"

namespace tk {

template <class T> struct repack {
  static constexpr auto tune = be::tune_repack();
  static constexpr int workers = tune.workers, cluster = 1, stages = 1, own_slots = 1;
  static constexpr int R = tune.R, C = tune.C, rows = workers * R;
  struct stage {};
  struct own {};
  struct scratch {};
  struct args {
    tensor<T> dst;
    tensor<T const> src;
    int vector_width;
  };
  struct task {
    int row, col, batch, steps;
  };

  static TK_BOTH int tasks(args const& a) {
    return ceil_div(static_cast<int>(a.src.rows), rows) *
           ceil_div(static_cast<int>(a.src.cols), C) * static_cast<int>(a.src.n0);
  }
  static TK_BOTH task task_at(args const& a, int i, int) {
    int const across = ceil_div(static_cast<int>(a.src.cols), C);
    int const each = ceil_div(static_cast<int>(a.src.rows), rows) * across, at = i % each;
    return {at / across * rows, at % across * C, i / each, 0};
  }
  static TK_DEVICE void load(stage&, args const&, task const&, int, be::arrival) {}
  template <class Context> static TK_DEVICE void compute(Context& c, args const& a, task const& t) {
    copy_rows<R, C>(a.dst, a.src, a.vector_width, t.row + c.w.id() * R, t.col, t.batch, 0);
  }
};

// dst has src's batch, or 1 where that one serves all.
template <class T> struct repack_run {
  static void launch(matrix const& dst, matrix const& src, void* stream);
};

template <class T> void repack_run<T>::launch(matrix const& dst, matrix const& src, void* stream) {
  typename repack<T>::args a{};
  a.dst = {static_cast<T*>(dst.data), dst.rows, dst.cols, dst.row_stride, dst.batch,
           dst.batch_stride};
  a.src = {static_cast<T const*>(src.data),
           src.rows,
           src.cols,
           src.row_stride,
           dst.batch,
           src.batch_stride};
  a.vector_width = vector_width_of(a.src);
  be::launch<repack<T>>(a, stream);
}

}  // namespace tk
