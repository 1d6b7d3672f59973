// SPDX-License-Identifier: MIT
// The C++ interface of embedding, header-only over embedding.h.
#pragma once
#include "ops/embedding/embedding.h"
#include "ops/tk_base.hpp"

namespace tk {

struct embedding_options {
  void* workspace = nullptr;  // embedding_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_embedding_problem problem(tensor_view const& table, tensor_view const& ids,
                                    output_view const& y, embedding_options const& o) {
  return {.size = sizeof(tk_embedding_problem),
          .table = table.get(),
          .ids = ids.get(),
          .y = y.get(),
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// y[..., :] = table[ids[...], :], and zeros for a number that is no row of the table: table [v, d]
// (bf16, fp16, fp32), ids of one to three dimensions (int32, int64), y of ids' sizes and d. See
// embedding.h. Throws tk::error before anything is launched or written.
inline void embedding(tensor_view const& table, tensor_view const& ids, output_view const& y,
                      embedding_options const& options = {}) {
  auto const problem = detail::problem(table, ids, y, options);
  detail::require(
      tk_embedding(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that embedding() wants as workspace. Data pointers may be null.
inline std::size_t embedding_workspace(tensor_view const& table, tensor_view const& ids,
                                       output_view const& y,
                                       embedding_options const& options = {}) {
  auto const problem = detail::problem(table, ids, y, options);
  return detail::workspace(TK_OP_EMBEDDING, &problem);
}

// Why embedding() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> embedding_refusal(tensor_view const& table, tensor_view const& ids,
                                              output_view const& y,
                                              embedding_options const& options = {}) {
  auto const problem = detail::problem(table, ids, y, options);
  return detail::refusal(tk_supports(TK_OP_EMBEDDING, &problem));
}

}  // namespace tk
