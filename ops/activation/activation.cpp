// SPDX-License-Identifier: MIT
// Chooses the compiled instance of activation that a problem asks for.
#include "core/element.hpp"
#include "ops/activation/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class T> struct activation_run {
  static void launch(activation_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(activation_problem const& x) { return row_workspace_bytes(x.a); }

void launch(activation_problem const& x, void* workspace, void* stream) {
  check_row_size(x.a);
  if (x.a.type == element::bf16) activation_run<bf16>::launch(x, workspace, stream);
  else if (x.a.type == element::fp16) activation_run<fp16>::launch(x, workspace, stream);
  else activation_run<float>::launch(x, workspace, stream);
}

}  // namespace tk
