// SPDX-License-Identifier: MIT
// Chooses the compiled instance of norm_backward that a problem asks for.
#include "core/element.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class T> struct norm_backward_run {
  static void launch(norm_backward_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(norm_backward_problem const& x) {
  return row_sums_workspace_bytes(x.r, 2);
}

void launch(norm_backward_problem const& x, void* workspace, void* stream) {
  check_row_size(x.r);
  if (x.r.type == element::bf16) norm_backward_run<bf16>::launch(x, workspace, stream);
  else if (x.r.type == element::fp16) norm_backward_run<fp16>::launch(x, workspace, stream);
  else norm_backward_run<float>::launch(x, workspace, stream);
}

}  // namespace tk
