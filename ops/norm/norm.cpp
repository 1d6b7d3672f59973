// SPDX-License-Identifier: MIT
// Chooses the compiled instance of norm that a problem asks for.
#include "core/element.hpp"
#include "ops/norm/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class T, class Stream = T, bool Drops = false, bool Fp8 = false> struct norm_run {
  static void launch(norm_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(norm_problem const& x) { return row_workspace_bytes(x.x); }

namespace {

template <class T> void launch_as(norm_problem const& x, void* workspace, void* stream) {
  if constexpr (sizeof(T) == 2) {
    if (x.y.type == element::fp8_e4m3 || x.y.type == element::fp8_e5m2)
      return norm_run<T, T, false, true>::launch(x, workspace, stream);
    if (x.stream == element::fp32) return norm_run<T, float, true>::launch(x, workspace, stream);
  }
  if (x.dropout.below != 0) norm_run<T, T, true>::launch(x, workspace, stream);
  else norm_run<T>::launch(x, workspace, stream);
}

}  // namespace

void launch(norm_problem const& x, void* workspace, void* stream) {
  check_row_size(x.x);
  if (x.x.type == element::bf16) launch_as<bf16>(x, workspace, stream);
  else if (x.x.type == element::fp16) launch_as<fp16>(x, workspace, stream);
  else launch_as<float>(x, workspace, stream);
}

}  // namespace tk
