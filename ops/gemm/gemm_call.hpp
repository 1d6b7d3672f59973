// SPDX-License-Identifier: MIT
// The C++ interface of gemm, header-only over gemm.h.
#pragma once
#include "ops/gemm/gemm.h"
#include "ops/tk_base.hpp"

namespace tk {

// c is needed where beta is not 0, bias where bias_kind is not TK_BIAS_NONE.
struct gemm_options {
  bool transpose_a = false, transpose_b = false;  // a is [k, m], b is [n, k]
  float alpha = 1, beta = 0;
  tensor_view c{};
  tensor_view bias{};
  tk_bias bias_kind = TK_BIAS_NONE;
  tk_activation_kind activation = TK_ACTIVATION_NONE;
  void* workspace = nullptr;  // gemm_workspace() bytes, aligned to 16; see tk_ops.h
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_gemm_problem problem(tensor_view const& a, tensor_view const& b, output_view const& d,
                               gemm_options const& o) {
  return {.size = sizeof(tk_gemm_problem),
          .a = a.get(),
          .b = b.get(),
          .c = o.c.get(),
          .bias = o.bias.get(),
          .d = d.get(),
          .transpose_a = o.transpose_a,
          .transpose_b = o.transpose_b,
          .alpha = o.alpha,
          .beta = o.beta,
          .bias_kind = o.bias_kind,
          .activation = o.activation,
          .repeat = o.repeat,
          .reserved = 0};
}

}  // namespace detail

// d = activation(alpha op(a) op(b) + beta c + bias); a [m, k], b [k, n], c and d [m, n], each with
// an optional leading batch; last dimension contiguous, other strides free. Sums in fp32, the same
// bit for bit from run to run. Throws tk::error before anything is launched or written.
inline void gemm(tensor_view const& a, tensor_view const& b, output_view const& d,
                 gemm_options const& options = {}) {
  auto const problem = detail::problem(a, b, d, options);
  detail::require(
      tk_gemm(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that gemm() wants as workspace. Data pointers may be null.
inline std::size_t gemm_workspace(tensor_view const& a, tensor_view const& b, output_view const& d,
                                  gemm_options const& options = {}) {
  auto const problem = detail::problem(a, b, d, options);
  return detail::workspace(TK_OP_GEMM, &problem);
}

// Why gemm() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> gemm_refusal(tensor_view const& a, tensor_view const& b,
                                         output_view const& d, gemm_options const& options = {}) {
  auto const problem = detail::problem(a, b, d, options);
  return detail::refusal(tk_supports(TK_OP_GEMM, &problem));
}

}  // namespace tk
