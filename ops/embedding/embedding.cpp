// SPDX-License-Identifier: MIT
// Chooses the compiled instance of embedding that a problem asks for.
#include "core/element.hpp"
#include "ops/embedding/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class T> struct embedding_run {
  static void launch(embedding_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(embedding_problem const& x) { return row_workspace_bytes(x.y); }

void launch(embedding_problem const& x, void* workspace, void* stream) {
  check_row_size(x.y);
  if (x.y.type == element::bf16) embedding_run<bf16>::launch(x, workspace, stream);
  else if (x.y.type == element::fp16) embedding_run<fp16>::launch(x, workspace, stream);
  else embedding_run<float>::launch(x, workspace, stream);
}

}  // namespace tk
