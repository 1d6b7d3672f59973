// SPDX-License-Identifier: MIT
// Chooses the compiled instance of softmax that a problem asks for.
#include "core/element.hpp"
#include "ops/row_sizes.hpp"
#include "ops/softmax/problem.hpp"

namespace tk {

template <class T> struct softmax_run {
  static void launch(softmax_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(softmax_problem const& x) { return row_workspace_bytes(x.x); }

void launch(softmax_problem const& x, void* workspace, void* stream) {
  check_row_size(x.x);
  if (x.x.type == element::bf16) softmax_run<bf16>::launch(x, workspace, stream);
  else if (x.x.type == element::fp16) softmax_run<fp16>::launch(x, workspace, stream);
  else softmax_run<float>::launch(x, workspace, stream);
}

}  // namespace tk
