// SPDX-License-Identifier: MIT
// The C++ interface of fft_conv_backward, header-only over fft_conv_backward.h.
#pragma once
#include "ops/fft_conv/fft_conv_backward.h"
#include "ops/tk_base.hpp"

namespace tk {

struct fft_conv_backward_options {
  tensor_view pre{}, post{};     // gates like u; 1 where absent
  output_view dpre{}, dpost{};   // like u; not wanted where absent
  bool circular = false;         // else causal
  bool filter_is_ready = false;  // the workspace holds its transform since an earlier call
  void* workspace = nullptr;     // fft_conv_backward_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_fft_conv_backward_problem problem(tensor_view const& u, tensor_view const& k,
                                            tensor_view const& dy, output_view const& du,
                                            output_view const& dk,
                                            fft_conv_backward_options const& x) {
  return {.size = sizeof(tk_fft_conv_backward_problem),
          .u = u.get(),
          .k = k.get(),
          .dy = dy.get(),
          .pre = x.pre.get(),
          .post = x.post.get(),
          .du = du.get(),
          .dk = dk.get(),
          .dpre = x.dpre.get(),
          .dpost = x.dpost.get(),
          .circular = x.circular,
          .filter_is_ready = x.filter_is_ready,
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// Gradients of fft_conv(u, k) from dy: du, dpre and dpost like u, dk fp32 like k, each only where
// given. The same bit for bit from run to run. Throws tk::error before anything is launched or
// written.
inline void fft_conv_backward(tensor_view const& u, tensor_view const& k, tensor_view const& dy,
                              output_view const& du, output_view const& dk,
                              fft_conv_backward_options const& options = {}) {
  auto const problem = detail::problem(u, k, dy, du, dk, options);
  detail::require(tk_fft_conv_backward(&problem, options.workspace, options.workspace_bytes,
                                       options.stream.handle()));
}

// Bytes of device memory that fft_conv_backward() wants as workspace. Data pointers may be null.
inline std::size_t fft_conv_backward_workspace(tensor_view const& u, tensor_view const& k,
                                               tensor_view const& dy, output_view const& du,
                                               output_view const& dk,
                                               fft_conv_backward_options const& options = {}) {
  auto const problem = detail::problem(u, k, dy, du, dk, options);
  return detail::workspace(TK_OP_FFT_CONV_BACKWARD, &problem);
}

// Why fft_conv_backward() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> fft_conv_backward_refusal(
    tensor_view const& u, tensor_view const& k, tensor_view const& dy, output_view const& du,
    output_view const& dk, fft_conv_backward_options const& options = {}) {
  auto const problem = detail::problem(u, k, dy, du, dk, options);
  return detail::refusal(tk_supports(TK_OP_FFT_CONV_BACKWARD, &problem));
}

}  // namespace tk
