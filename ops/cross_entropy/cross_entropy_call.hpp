// SPDX-License-Identifier: MIT
// The C++ interface of cross_entropy, header-only over cross_entropy.h.
#pragma once
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/tk_base.hpp"

namespace tk {

struct cross_entropy_options {
  output_view lse{};                           // not written where absent
  output_view dx{};                            // not written where absent; may be x
  std::optional<std::int64_t> ignore_index{};  // no label where absent
  float label_smoothing = 0, z_loss = 0, softcap = 0;
  float dloss_scale = 1;
  void* workspace = nullptr;  // cross_entropy_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_cross_entropy_problem problem(tensor_view const& x, tensor_view const& labels,
                                        output_view const& loss, cross_entropy_options const& o) {
  return {.size = sizeof(tk_cross_entropy_problem),
          .x = x.get(),
          .labels = labels.get(),
          .loss = loss.get(),
          .lse = o.lse.get(),
          .dx = o.dx.get(),
          .ignore_index = o.ignore_index.value_or(0),
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

// loss, and lse, of each row of logits x against its label, and dx, the gradient of the sum of all
// losses, times dloss_scale; x and dx [vocab] to [b, h, rows, vocab] of one type (bf16, fp16,
// fp32), the last dimension contiguous; labels (int32 or int64), loss and lse (fp32) of x's sizes
// without the last. dx may be x itself. See cross_entropy.h for the formulas. Throws tk::error
// before anything is launched or written.
inline void cross_entropy(tensor_view const& x, tensor_view const& labels, output_view const& loss,
                          cross_entropy_options const& options = {}) {
  auto const problem = detail::problem(x, labels, loss, options);
  detail::require(tk_cross_entropy(&problem, options.workspace, options.workspace_bytes,
                                   options.stream.handle()));
}

// Bytes of device memory that cross_entropy() wants as workspace. Data pointers may be null.
inline std::size_t cross_entropy_workspace(tensor_view const& x, tensor_view const& labels,
                                           output_view const& loss,
                                           cross_entropy_options const& options = {}) {
  auto const problem = detail::problem(x, labels, loss, options);
  return detail::workspace(TK_OP_CROSS_ENTROPY, &problem);
}

// Why cross_entropy() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> cross_entropy_refusal(tensor_view const& x, tensor_view const& labels,
                                                  output_view const& loss,
                                                  cross_entropy_options const& options = {}) {
  auto const problem = detail::problem(x, labels, loss, options);
  return detail::refusal(tk_supports(TK_OP_CROSS_ENTROPY, &problem));
}

}  // namespace tk
