// SPDX-License-Identifier: MIT
// Chooses the compiled instance of norm_backward that a problem asks for.
#include "core/element.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class T, class Stream = T, bool Drops = false> struct norm_backward_run {
  static void launch(norm_backward_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(norm_backward_problem const& x) {
  return row_sums_workspace_bytes(x.r, 2);
}

namespace {

template <class T> void launch_as(norm_backward_problem const& x, void* workspace, void* stream) {
  if constexpr (sizeof(T) == 2)
    if (x.r.type == element::fp32)
      return norm_backward_run<T, float, true>::launch(x, workspace, stream);
  if (x.dropout.below != 0 || x.dresidual.data)
    norm_backward_run<T, T, true>::launch(x, workspace, stream);
  else norm_backward_run<T>::launch(x, workspace, stream);
}

}  // namespace

void launch(norm_backward_problem const& x, void* workspace, void* stream) {
  check_row_size(x.r);
  if (x.dy.type == element::bf16) launch_as<bf16>(x, workspace, stream);
  else if (x.dy.type == element::fp16) launch_as<fp16>(x, workspace, stream);
  else launch_as<float>(x, workspace, stream);
}

}  // namespace tk
