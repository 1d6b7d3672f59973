// SPDX-License-Identifier: MIT
// Chooses the compiled instance of softmax_backward that a problem asks for.
#include "core/element.hpp"
#include "ops/row_sizes.hpp"
#include "ops/softmax/problem.hpp"

namespace tk {

template <class T> struct softmax_backward_run {
  static void launch(softmax_backward_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(softmax_backward_problem const& x) { return row_workspace_bytes(x.y); }

void launch(softmax_backward_problem const& x, void* workspace, void* stream) {
  check_row_size(x.y);
  if (x.y.type == element::bf16) softmax_backward_run<bf16>::launch(x, workspace, stream);
  else if (x.y.type == element::fp16) softmax_backward_run<fp16>::launch(x, workspace, stream);
  else softmax_backward_run<float>::launch(x, workspace, stream);
}

}  // namespace tk
