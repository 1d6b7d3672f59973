// SPDX-License-Identifier: MIT
// Chooses the compiled instance of quantise that a problem asks for.
#include "core/element.hpp"
#include "ops/quantise/blocks.hpp"

namespace tk {

template <class T, class F> struct quantise_run {
  static void launch(quantise_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(quantise_problem const& x) { return part_scales(x).layout.bytes(); }

namespace {

template <class T> void choose(quantise_problem const& x, void* workspace, void* stream) {
  if (x.y.type == element::fp8_e5m2) quantise_run<T, fp8_e5m2>::launch(x, workspace, stream);
  else quantise_run<T, fp8_e4m3>::launch(x, workspace, stream);
}

}  // namespace

void launch(quantise_problem const& x, void* workspace, void* stream) {
  check_row_size(x.x);
  if (x.x.type == element::bf16) choose<bf16>(x, workspace, stream);
  else if (x.x.type == element::fp16) choose<fp16>(x, workspace, stream);
  else choose<float>(x, workspace, stream);
}

}  // namespace tk
