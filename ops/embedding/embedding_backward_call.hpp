// SPDX-License-Identifier: MIT
// The C++ interface of embedding_backward, header-only over embedding_backward.h.
#pragma once
#include "ops/embedding/embedding_backward.h"
#include "ops/tk_base.hpp"

namespace tk {

struct embedding_backward_options {
  std::optional<std::int64_t> ignored_id{};  // tokens of this number count for nothing
  void* workspace = nullptr;                 // embedding_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_embedding_backward_problem problem(tensor_view const& dy, tensor_view const& ids,
                                             output_view const& dtable,
                                             embedding_backward_options const& o) {
  return {.size = sizeof(tk_embedding_backward_problem),
          .dy = dy.get(),
          .ids = ids.get(),
          .dtable = dtable.get(),
          .ignored_id = o.ignored_id.value_or(0),
          .ignores = o.ignored_id.has_value(),
          .reserved2 = 0,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// dtable[r, :] = sum of dy[i, :] over the tokens i with ids[i] == r, and zeros where there is none:
// dy of ids' sizes and d (bf16, fp16, fp32), ids of one to three dimensions (int32, int64), dtable
// [v, d] of dy's type or fp32. See embedding_backward.h. Throws tk::error before anything is
// launched or written.
inline void embedding_backward(tensor_view const& dy, tensor_view const& ids,
                               output_view const& dtable,
                               embedding_backward_options const& options = {}) {
  auto const problem = detail::problem(dy, ids, dtable, options);
  detail::require(tk_embedding_backward(&problem, options.workspace, options.workspace_bytes,
                                        options.stream.handle()));
}

// Bytes of device memory that embedding_backward() wants as workspace. Data pointers may be null.
inline std::size_t embedding_backward_workspace(tensor_view const& dy, tensor_view const& ids,
                                                output_view const& dtable,
                                                embedding_backward_options const& options = {}) {
  auto const problem = detail::problem(dy, ids, dtable, options);
  return detail::workspace(TK_OP_EMBEDDING_BACKWARD, &problem);
}

// Why embedding_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> embedding_backward_refusal(
    tensor_view const& dy, tensor_view const& ids, output_view const& dtable,
    embedding_backward_options const& options = {}) {
  auto const problem = detail::problem(dy, ids, dtable, options);
  return detail::refusal(tk_supports(TK_OP_EMBEDDING_BACKWARD, &problem));
}

}  // namespace tk
