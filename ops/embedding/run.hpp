// SPDX-License-Identifier: MIT
// From a checked problem to a launch of embedding. embedding_run<T> is instantiated once for each
// row of ops/embedding/embedding.cmake; ops/embedding/embedding.cpp chooses among them.
#pragma once
#include "ops/embedding/embedding.hpp"
#include "ops/embedding/problem.hpp"
#include "ops/row_launch.hpp"

namespace tk {

template <class T> struct embedding_run {
  static void launch(embedding_problem const& x, void* workspace, void* stream);
};
template <class T>
void embedding_run<T>::launch(embedding_problem const& x, void* workspace, void* stream) {
  row_problem<embedding_rows<T>> rows{{}, {x.y}, {x.y}};
  rows.in[0].data = x.table.data;
  rows.in[0].outer_stride = rows.in[0].middle_stride = rows.in[0].row_stride = 0;
  rows.tables[0] = {x.table.rows, x.table.row_stride};
  rows.values[0] = x.ids;
  launch_rows(rows, workspace, stream);
}

}  // namespace tk
