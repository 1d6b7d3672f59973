// SPDX-License-Identifier: MIT
// The C++ interface of norm_backward, header-only over norm_backward.h.
#pragma once
#include "ops/norm/norm_backward.h"
#include "ops/tk_base.hpp"

namespace tk {

struct norm_backward_options {
  tensor_view weight{};   // [width], 1 where absent
  tensor_view dr{};       // what reaches r from elsewhere, 0 where absent
  output_view dweight{};  // not written where absent
  output_view dbias{};    // not written where absent
  tk_norm_kind kind = TK_NORM_LAYER;
  float eps = 1e-5f;
  void* workspace = nullptr;  // norm_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
  output_view dresidual{};  // needed with dropout: dx is not the gradient of r then
  float dropout = 0;        // that of norm(), as are
  std::uint64_t seed = 0, offset = 0;
  tensor_view random_state{};  // in place of seed and offset
};

namespace detail {

inline tk_norm_backward_problem problem(tensor_view const& r, tensor_view const& dy,
                                        output_view const& dx, norm_backward_options const& o) {
  return {.size = sizeof(tk_norm_backward_problem),
          .r = r.get(),
          .dy = dy.get(),
          .weight = o.weight.get(),
          .dr = o.dr.get(),
          .dx = dx.get(),
          .dweight = o.dweight.get(),
          .dbias = o.dbias.get(),
          .kind = o.kind,
          .eps = o.eps,
          .repeat = o.repeat,
          .reserved = 0,
          .dresidual = o.dresidual.get(),
          .dropout = o.dropout,
          .reserved2 = 0,
          .seed = o.seed,
          .offset = o.offset,
          .random_state = o.random_state.get()};
}

}  // namespace detail

// dresidual, the gradient of y = norm(r) weight + bias with respect to r, plus dr; dx, the same, or
// mask o dresidual / (1 - dropout); dweight and dbias, sums over all rows. r is what norm() gave
// (its x, where it had no residual and no dropout), kind, eps, dropout, seed and offset are its
// own. r, dy, dr, dx and dresidual [width] to [b, h, rows, width], the same sizes; dy and dx of one
// type (bf16, fp16, fp32), r, dr and dresidual of that or all fp32; weight, dweight, dbias [width]
// of dy's type or fp32; the last dimension contiguous. Sums are fp32. dx and dresidual may be r, dy
// or dr themselves. Throws tk::error before anything is launched or written.
inline void norm_backward(tensor_view const& r, tensor_view const& dy, output_view const& dx,
                          norm_backward_options const& options = {}) {
  auto const problem = detail::problem(r, dy, dx, options);
  detail::require(tk_norm_backward(&problem, options.workspace, options.workspace_bytes,
                                   options.stream.handle()));
}

// Bytes of device memory that norm_backward() wants as workspace. Data pointers may be null.
inline std::size_t norm_backward_workspace(tensor_view const& r, tensor_view const& dy,
                                           output_view const& dx,
                                           norm_backward_options const& options = {}) {
  auto const problem = detail::problem(r, dy, dx, options);
  return detail::workspace(TK_OP_NORM_BACKWARD, &problem);
}

// Why norm_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> norm_backward_refusal(tensor_view const& r, tensor_view const& dy,
                                                  output_view const& dx,
                                                  norm_backward_options const& options = {}) {
  auto const problem = detail::problem(r, dy, dx, options);
  return detail::refusal(tk_supports(TK_OP_NORM_BACKWARD, &problem));
}

}  // namespace tk
