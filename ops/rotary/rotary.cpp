// SPDX-License-Identifier: MIT
// Chooses the compiled instance of rotary that a problem asks for.
#include <algorithm>
#include <type_traits>

#include "core/element.hpp"
#include "ops/rotary/problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

template <class T, class C> struct rotary_run {
  static void launch(rotary_problem const& x, void* workspace, void* stream);
};

std::size_t workspace_bytes(rotary_problem const& x) {
  return std::max(row_workspace_bytes(x.q), row_workspace_bytes(x.k));
}

namespace {

template <class T> void choose(rotary_problem const& x, void* workspace, void* stream) {
  if constexpr (!std::is_same_v<T, float>)
    if (x.cos.type == x.q.type) return rotary_run<T, T>::launch(x, workspace, stream);
  rotary_run<T, float>::launch(x, workspace, stream);
}

}  // namespace

void launch(rotary_problem const& x, void* workspace, void* stream) {
  for (auto const* of : {&x.q, &x.k}) check_row_size(*of);
  if (x.q.type == element::bf16) choose<bf16>(x, workspace, stream);
  else if (x.q.type == element::fp16) choose<fp16>(x, workspace, stream);
  else choose<float>(x, workspace, stream);
}

}  // namespace tk
