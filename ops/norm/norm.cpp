// SPDX-License-Identifier: MIT
// Chooses the compiled instance of norm that a problem asks for.
#include "core/element.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class T> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(norm_problem const& x) { return row_workspace_bytes(x.x); }

void launch(norm_problem const& x, void* workspace, void* stream) {
  check_row_size(x.x);
  if (x.x.type == element::bf16) norm_run<bf16>::launch(x, workspace, stream);
  else if (x.x.type == element::fp16) norm_run<fp16>::launch(x, workspace, stream);
  else norm_run<float>::launch(x, workspace, stream);
}

}  // namespace tk
