// SPDX-License-Identifier: MIT
// Chooses the compiled instance of cross_entropy that a problem asks for.
#include "core/element.hpp"
#include "ops/cross_entropy/sizes.hpp"

namespace tk {

template <class T> struct cross_entropy_run {
  static void launch(cross_entropy_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(cross_entropy_problem const& x) {
  return cross_entropy_workspace_bytes(x.x);
}

void launch(cross_entropy_problem const& x, void* workspace, void* stream) {
  check_cross_entropy_size(x.x);
  if (x.x.type == element::bf16) cross_entropy_run<bf16>::launch(x, workspace, stream);
  else if (x.x.type == element::fp16) cross_entropy_run<fp16>::launch(x, workspace, stream);
  else cross_entropy_run<float>::launch(x, workspace, stream);
}

}  // namespace tk
