// SPDX-License-Identifier: MIT
// The C++ interface of linear_cross_entropy, header-only over linear_cross_entropy.h.
#pragma once
#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "ops/tk_base.hpp"

namespace tk {

struct linear_cross_entropy_options {
  output_view lse{}, dx{}, dw{};               // not computed where absent
  std::optional<std::int64_t> ignore_index{};  // no label where absent
  float label_smoothing = 0, z_loss = 0, softcap = 0;
  float dloss_scale = 1;
  std::int64_t chunk_rows = 0;  // rows whose logits are stored at once; 0: chosen
  void* workspace = nullptr;    // linear_cross_entropy_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_linear_cross_entropy_problem problem(tensor_view const& x, tensor_view const& w,
                                               tensor_view const& labels, output_view const& loss,
                                               linear_cross_entropy_options const& o) {
  return {.size = sizeof(tk_linear_cross_entropy_problem),
          .x = x.get(),
          .w = w.get(),
          .labels = labels.get(),
          .loss = loss.get(),
          .lse = o.lse.get(),
          .dx = o.dx.get(),
          .dw = o.dw.get(),
          .ignore_index = o.ignore_index.value_or(0),
          .chunk_rows = o.chunk_rows,
          .has_ignore_index = o.ignore_index.has_value(),
          .reserved2 = 0,
          .label_smoothing = o.label_smoothing,
          .z_loss = o.z_loss,
          .softcap = o.softcap,
          .dloss_scale = o.dloss_scale,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// loss, and lse, of each row of x w^T against its label; dx and dw, the gradients of the sum of all
// losses, times dloss_scale. x and dx [rows, d], w and dw [vocab, d]; x and w of one type (bf16,
// fp16), dx and dw of that type or fp32; labels (int32 or int64), loss and lse (fp32) [rows]. See
// linear_cross_entropy.h for the formulas. Throws tk::error before anything is launched or written.
inline void linear_cross_entropy(tensor_view const& x, tensor_view const& w,
                                 tensor_view const& labels, output_view const& loss,
                                 linear_cross_entropy_options const& options = {}) {
  auto const problem = detail::problem(x, w, labels, loss, options);
  detail::require(tk_linear_cross_entropy(&problem, options.workspace, options.workspace_bytes,
                                          options.stream.handle()));
}

// Bytes of device memory that linear_cross_entropy() wants as workspace. Data pointers may be null.
inline std::size_t linear_cross_entropy_workspace(
    tensor_view const& x, tensor_view const& w, tensor_view const& labels, output_view const& loss,
    linear_cross_entropy_options const& options = {}) {
  auto const problem = detail::problem(x, w, labels, loss, options);
  return detail::workspace(TK_OP_LINEAR_CROSS_ENTROPY, &problem);
}

// Why linear_cross_entropy() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> linear_cross_entropy_refusal(
    tensor_view const& x, tensor_view const& w, tensor_view const& labels, output_view const& loss,
    linear_cross_entropy_options const& options = {}) {
  auto const problem = detail::problem(x, w, labels, loss, options);
  return detail::refusal(tk_supports(TK_OP_LINEAR_CROSS_ENTROPY, &problem));
}

}  // namespace tk
