// SPDX-License-Identifier: MIT
// Chooses the compiled instance of conv1d that a problem asks for.
#include "core/element.hpp"
#include "ops/conv1d/sizes.hpp"

namespace tk {

template <class T, class W> struct conv1d_run {
  static void launch(conv1d_problem const& x, void* stream);
};

std::size_t workspace_bytes(conv1d_problem const& x) {
  check_conv1d_size(x);
  return 0;
}

namespace {

template <class T> void launch_as(conv1d_problem const& x, void* stream) {
  if (x.weight.type == element::fp32) conv1d_run<T, float>::launch(x, stream);
  else conv1d_run<T, T>::launch(x, stream);
}

}  // namespace

void launch(conv1d_problem const& x, void*, void* stream) {
  if (x.x.type == element::bf16) launch_as<bf16>(x, stream);
  else if (x.x.type == element::fp16) launch_as<fp16>(x, stream);
  else launch_as<float>(x, stream);
}

}  // namespace tk
