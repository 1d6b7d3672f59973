// SPDX-License-Identifier: MIT
// Chooses the compiled instance of softmax that a problem asks for.
#include "core/element.hpp"
#include "ops/row_sizes.hpp"
#include "ops/softmax/problem.hpp"

namespace tk {

template <class T, bool Masked> struct softmax_run {
  static void launch(softmax_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(softmax_problem const& x) { return row_workspace_bytes(x.x); }

void launch(softmax_problem const& x, void* workspace, void* stream) {
  check_row_size(x.x);
  auto const run = [&]<class T>(T) {
    if (x.bool_mask.data) softmax_run<T, true>::launch(x, workspace, stream);
    else softmax_run<T, false>::launch(x, workspace, stream);
  };
  if (x.x.type == element::bf16) run(bf16{});
  else if (x.x.type == element::fp16) run(fp16{});
  else run(float{});
}

}  // namespace tk
