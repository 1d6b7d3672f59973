// SPDX-License-Identifier: MIT
// The C++ interface of activation_backward, header-only over activation_backward.h.
#pragma once
#include "ops/activation/activation_backward.h"
#include "ops/tk_base.hpp"

namespace tk {

struct activation_backward_options {
  tensor_view b{};            // that of the forward; 1 where absent
  output_view db{};           // not written where absent
  void* workspace = nullptr;  // activation_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
  bool interleaved = false;  // as in the forward; da is the gradient of that one tensor
};

namespace detail {

inline tk_activation_backward_problem problem(tk_activation_kind kind, tensor_view const& a,
                                              tensor_view const& dy, output_view const& da,
                                              activation_backward_options const& o) {
  return {.size = sizeof(tk_activation_backward_problem),
          .a = a.get(),
          .b = o.b.get(),
          .dy = dy.get(),
          .da = da.get(),
          .db = o.db.get(),
          .kind = kind,
          .reserved_kind = 0,
          .repeat = o.repeat,
          .reserved = 0,
          .interleaved = o.interleaved,
          .reserved_interleaved = 0};
}

}  // namespace detail

// da = dy b act'(a), db = dy act(a), the gradients of y = act(a) b; a, b, dy, da and db [width] to
// [b, h, rows, width], the same sizes, of one type (bf16, fp16, fp32); the last dimension
// contiguous. Arithmetic is fp32. da may be an absent view where db is given. da and db may be a, b
// or dy themselves. Throws tk::error before anything is launched or written.
inline void activation_backward(tk_activation_kind kind, tensor_view const& a,
                                tensor_view const& dy, output_view const& da,
                                activation_backward_options const& options = {}) {
  auto const problem = detail::problem(kind, a, dy, da, options);
  detail::require(tk_activation_backward(&problem, options.workspace, options.workspace_bytes,
                                         options.stream.handle()));
}

// Bytes of device memory that activation_backward() wants as workspace. Data pointers may be null.
inline std::size_t activation_backward_workspace(tk_activation_kind kind, tensor_view const& a,
                                                 tensor_view const& dy, output_view const& da,
                                                 activation_backward_options const& options = {}) {
  auto const problem = detail::problem(kind, a, dy, da, options);
  return detail::workspace(TK_OP_ACTIVATION_BACKWARD, &problem);
}

// Why activation_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> activation_backward_refusal(
    tk_activation_kind kind, tensor_view const& a, tensor_view const& dy, output_view const& da,
    activation_backward_options const& options = {}) {
  auto const problem = detail::problem(kind, a, dy, da, options);
  return detail::refusal(tk_supports(TK_OP_ACTIVATION_BACKWARD, &problem));
}

}  // namespace tk
