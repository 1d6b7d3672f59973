// SPDX-License-Identifier: MIT
// The C++ interface of fft_conv, header-only over fft_conv.h.
#pragma once
#include "ops/fft_conv/fft_conv.h"
#include "ops/tk_base.hpp"

namespace tk {

struct fft_conv_options {
  tensor_view pre{}, post{};     // gates like u; 1 where absent
  bool circular = false;         // else causal
  bool filter_is_ready = false;  // the workspace holds its transform since an earlier call
  void* workspace = nullptr;     // fft_conv_workspace() bytes, as for gemm
  std::size_t workspace_bytes = 0;
  tk_repeat repeat = TK_REPEAT_RUN;
  tk::stream stream{};
};

namespace detail {

inline tk_fft_conv_problem problem(tensor_view const& u, tensor_view const& k, output_view const& y,
                                   fft_conv_options const& x) {
  return {.size = sizeof(tk_fft_conv_problem),
          .u = u.get(),
          .k = k.get(),
          .y = y.get(),
          .pre = x.pre.get(),
          .post = x.post.get(),
          .circular = x.circular,
          .filter_is_ready = x.filter_is_ready,
          .repeat = x.repeat,
          .reserved = 0};
}

}  // namespace detail

// y = post o ((u o pre) * k), a causal or circular convolution of each channel; u, y [b, h, n],
// bf16 or fp16, k fp32 [h_k, nk], h a multiple of h_k; the last dimension contiguous, other strides
// free. The same bit for bit from run to run. Throws tk::error before anything is launched or
// written.
inline void fft_conv(tensor_view const& u, tensor_view const& k, output_view const& y,
                     fft_conv_options const& options = {}) {
  auto const problem = detail::problem(u, k, y, options);
  detail::require(
      tk_fft_conv(&problem, options.workspace, options.workspace_bytes, options.stream.handle()));
}

// Bytes of device memory that fft_conv() wants as workspace. Data pointers may be null.
inline std::size_t fft_conv_workspace(tensor_view const& u, tensor_view const& k,
                                      output_view const& y, fft_conv_options const& options = {}) {
  auto const problem = detail::problem(u, k, y, options);
  return detail::workspace(TK_OP_FFT_CONV, &problem);
}

// Why fft_conv() would refuse; nothing if it would not. Data pointers may be null.
inline std::optional<error> fft_conv_refusal(tensor_view const& u, tensor_view const& k,
                                             output_view const& y,
                                             fft_conv_options const& options = {}) {
  auto const problem = detail::problem(u, k, y, options);
  return detail::refusal(tk_supports(TK_OP_FFT_CONV, &problem));
}

}  // namespace tk
