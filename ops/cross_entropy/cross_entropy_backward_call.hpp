// SPDX-License-Identifier: MIT
// The C++ interface of cross_entropy_backward, header-only over cross_entropy_backward.h.
#pragma once
#include "ops/cross_entropy/cross_entropy_backward.h"
#include "ops/tk_base.hpp"

namespace tk {

struct cross_entropy_backward_options {
  std::optional<std::int64_t> ignore_index{};  // no label where absent
  float label_smoothing = 0, z_loss = 0, softcap = 0;
  void* workspace = nullptr;  // cross_entropy_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_cross_entropy_backward_problem problem(tensor_view const& x, tensor_view const& labels,
                                                 tensor_view const& lse, tensor_view const& dloss,
                                                 output_view const& dx,
                                                 cross_entropy_backward_options const& o) {
  return {.size = sizeof(tk_cross_entropy_backward_problem),
          .x = x.get(),
          .labels = labels.get(),
          .lse = lse.get(),
          .dloss = dloss.get(),
          .dx = dx.get(),
          .ignore_index = o.ignore_index.value_or(0),
          .has_ignore_index = o.ignore_index.has_value(),
          .label_smoothing = o.label_smoothing,
          .z_loss = o.z_loss,
          .softcap = o.softcap,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// dx, the gradient of a sum of loss * dloss, from the x, labels and lse of cross_entropy() and with
// its options; x and dx [vocab] to [b, h, rows, vocab] of one type (bf16, fp16, fp32), the last
// dimension contiguous; labels (int32 or int64), lse and dloss (fp32) of x's sizes without the
// last. dx may be x itself. See cross_entropy_backward.h for the formula. Throws tk::error before
// anything is launched or written.
inline void cross_entropy_backward(tensor_view const& x, tensor_view const& labels,
                                   tensor_view const& lse, tensor_view const& dloss,
                                   output_view const& dx,
                                   cross_entropy_backward_options const& options = {}) {
  auto const problem = detail::problem(x, labels, lse, dloss, dx, options);
  detail::require(tk_cross_entropy_backward(&problem, options.workspace, options.workspace_bytes,
                                            options.stream.handle()));
}

// Bytes of device memory that cross_entropy_backward() wants as workspace. Data pointers may be
// null.
inline std::size_t cross_entropy_backward_workspace(
    tensor_view const& x, tensor_view const& labels, tensor_view const& lse,
    tensor_view const& dloss, output_view const& dx,
    cross_entropy_backward_options const& options = {}) {
  auto const problem = detail::problem(x, labels, lse, dloss, dx, options);
  return detail::workspace(TK_OP_CROSS_ENTROPY_BACKWARD, &problem);
}

// Why cross_entropy_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> cross_entropy_backward_refusal(
    tensor_view const& x, tensor_view const& labels, tensor_view const& lse,
    tensor_view const& dloss, output_view const& dx,
    cross_entropy_backward_options const& options = {}) {
  auto const problem = detail::problem(x, labels, lse, dloss, dx, options);
  return detail::refusal(tk_supports(TK_OP_CROSS_ENTROPY_BACKWARD, &problem));
}

}  // namespace tk
