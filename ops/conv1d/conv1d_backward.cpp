// SPDX-License-Identifier: MIT
// Chooses the compiled instance of conv1d_backward that a problem asks for.
#include "core/element.hpp"
#include "ops/conv1d/sizes.hpp"

namespace tk {

template <class T, class W> struct conv1d_backward_run {
  static void launch(conv1d_backward_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(conv1d_backward_problem const& x) {
  check_conv1d_size(x);
  return conv1d_sums(x).bytes();
}

namespace {

template <class T> void launch_as(conv1d_backward_problem const& x, void* workspace, void* stream) {
  if (x.weight.type == element::fp32) conv1d_backward_run<T, float>::launch(x, workspace, stream);
  else conv1d_backward_run<T, T>::launch(x, workspace, stream);
}

}  // namespace

void launch(conv1d_backward_problem const& x, void* workspace, void* stream) {
  if (x.x.type == element::bf16) launch_as<bf16>(x, workspace, stream);
  else if (x.x.type == element::fp16) launch_as<fp16>(x, workspace, stream);
  else launch_as<float>(x, workspace, stream);
}

}  // namespace tk
