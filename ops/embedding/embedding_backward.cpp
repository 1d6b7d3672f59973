// SPDX-License-Identifier: MIT
// Chooses the compiled instances of embedding_backward that a problem asks for.
#include "core/element.hpp"
#include "ops/embedding/backward_problem.hpp"
#include "ops/row_sizes.hpp"

namespace tk {

namespace {

// Where there is no token, its other sizes are of no account.
void check_size(embedding_backward_problem const& x) {
  auto dy = x.dy;
  if (!x.has_tokens()) dy.outer = dy.middle = dy.rows = 0;
  check_row_size(dy);
}

}  // namespace

std::size_t workspace_bytes(embedding_backward_problem const& x) {
  check_size(x);
  return embedding_backward_memory(x).bytes();
}

namespace {

template <class T>
void choose(embedding_backward_problem const& x, sorted_items const& sorted, void* workspace,
            void* stream) {
  if (x.dtable.type == element::fp32)
    embedding_backward_run<T, float>::launch(x, sorted, workspace, stream);
  else embedding_backward_run<T, T>::launch(x, sorted, workspace, stream);
}

}  // namespace

void launch(embedding_backward_problem const& x, void* workspace, void* stream) {
  check_size(x);
  auto const memory = embedding_backward_memory(x).sorting(workspace);
  auto const sorted = x.ids.type == element::int32
                          ? embedding_order<std::int32_t>::launch(x, memory, stream)
                          : embedding_order<std::int64_t>::launch(x, memory, stream);
  if (x.dy.type == element::bf16) choose<bf16>(x, sorted, workspace, stream);
  else if (x.dy.type == element::fp16) choose<fp16>(x, sorted, workspace, stream);
  else choose<float>(x, sorted, workspace, stream);
}

}  // namespace tk
