// SPDX-License-Identifier: MIT
// Chooses the compiled instance of add that a problem asks for.
#include "core/element.hpp"
#include "ops/add/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class A, class Y> struct add_run {
  static void launch(add_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(add_problem const& x) { return row_workspace_bytes(x.a); }

namespace {

template <class A> void choose(add_problem const& x, void* workspace, void* stream) {
  if (x.y.type == element::bf16) add_run<A, bf16>::launch(x, workspace, stream);
  else if (x.y.type == element::fp16) add_run<A, fp16>::launch(x, workspace, stream);
  else add_run<A, float>::launch(x, workspace, stream);
}

}  // namespace

void launch(add_problem const& x, void* workspace, void* stream) {
  check_row_size(x.a);
  if (x.a.type == element::bf16) choose<bf16>(x, workspace, stream);
  else if (x.a.type == element::fp16) choose<fp16>(x, workspace, stream);
  else choose<float>(x, workspace, stream);
}

}  // namespace tk
