// SPDX-License-Identifier: MIT
// Works off linear_cross_entropy chunk by chunk, through gemm, cross_entropy and ignored_rows,
// which take turns at the beginning of the workspace: each leaves its counters as it found them.
#pragma once
#include <algorithm>

#include "core/element.hpp"
#include "ops/linear_cross_entropy/parts.hpp"

namespace tk {

template <class T> struct linear_cross_entropy_run {
  static void launch(linear_cross_entropy_problem const& x, linear_cross_entropy_plan const& plan,
                     void* workspace, void* stream);
};

template <class T>
void linear_cross_entropy_run<T>::launch(linear_cross_entropy_problem const& x,
                                         linear_cross_entropy_plan const& plan, void* workspace,
                                         void* stream) {
  bool const wants_dx = x.has_dx && x.x.cols > 0,
             wants_dw = x.has_dw && x.w.rows > 0 && x.w.cols > 0;
  bool const ignores = x.terms.has_ignore_index;
  T* const logits = in_workspace<T>(workspace, plan.logits);
  T* const copy = in_workspace<T>(workspace, plan.x);
  std::int64_t first = 0;
  do {  // without rows dw is written, too
    std::int64_t const rows = std::min(plan.chunk_rows, x.x.rows - first);
    linear_cross_entropy_chunk const chunk(x, plan, logits, copy, first, rows);
    if (rows > 0) {
      tk::launch(chunk.product(), workspace, stream);
      tk::launch(chunk.losses(), workspace, stream);
      if (wants_dx) tk::launch(chunk.dx(), workspace, stream);
      if (wants_dx && ignores) {
        auto const dx = chunk.counted_dx();
        if (dx.x.type == element::fp32) ignored_rows_run<float>::launch(dx, workspace, stream);
        else ignored_rows_run<T>::launch(dx, workspace, stream);
      }
      if (wants_dw && ignores) ignored_rows_run<T>::launch(chunk.counted_x(), workspace, stream);
    }
    if (wants_dw) tk::launch(chunk.dw(), workspace, stream);
    first += rows;
  } while (first < x.x.rows);
}

}  // namespace tk
