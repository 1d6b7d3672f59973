/* SPDX-License-Identifier: MIT
 * The C interface of fft_conv_backward; what holds of every call is in tk_base.h. */
#ifndef TK_FFT_CONV_BACKWARD_H
#define TK_FFT_CONV_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gradients of tk_fft_conv from dy: with x = u o pre, g = dy o post, and sums over what is inside,
 * or in a circular convolution around, r[t] = sum over j < nk of k[j] g[t + j],  du = r o pre, dpre
 * = r o u, dpost = dy o (x * k),  dk[f, j] = sum over b, the channels of f, and t of g[t + j] x[t]
 *
 * u, k, pre, post, circular and filter_is_ready are as in tk_fft_conv, whose limits hold. dy, du,
 * dpre and dpost are like u, dk is fp32 like k. An output that is NULL is not wanted; gradients of
 * gates may be had without gates, which then are 1. k is read only for du, dpre and dpost: a call
 * that wants none of them, or whose b is 0, makes no transforms for later ones.
 *
 * Errors are as in tk_fft_conv: of du, dpre and dpost at most twice those of rounding, in the root
 * of the mean square; dk, which two transforms of fp16 factors enter, three times those of rounding
 * u and dy to fp16, or half of those to bf16. `repeat`: elements of du, dpre and dpost depend on
 * their own sequence and filter with TK_REPEAT_RUN as well; dk is summed over the batch in a fixed
 * order. */
typedef struct tk_fft_conv_backward_problem {
  size_t size; /* sizeof(tk_fft_conv_backward_problem) */
  DLTensor const* u;
  DLTensor const* k;
  DLTensor const* dy;
  DLTensor const* pre;  /* may be NULL */
  DLTensor const* post; /* may be NULL */
  DLTensor const* du;   /* may be NULL: not wanted; and so may the others */
  DLTensor const* dk;
  DLTensor const* dpre;
  DLTensor const* dpost;
  int circular;        /* 0: causal, 1: circular */
  int filter_is_ready; /* 0 or 1 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_fft_conv_backward_problem;

TK_API tk_status tk_fft_conv_backward(tk_fft_conv_backward_problem const* problem, void* workspace,
                                      size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_FFT_CONV_BACKWARD_H */
