/* SPDX-License-Identifier: MIT
 * The C interface of fft_conv; what holds of every call is in tk_base.h. */
#ifndef TK_FFT_CONV_H
#define TK_FFT_CONV_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Long convolution of each channel with a filter, between two gates:
 *   y[b, c, t] = post[b, c, t] sum over j < nk of k[f, j] x[t - j],  x = u[b, c] o pre[b, c]
 * Filter f = c h_k / h. Causal: what comes before the first element is 0. Circular: t - j counts
 * modulo n.
 *
 * u, y, and the gates pre and post, where given, are [b, h, n], or [h, n] where b is 1, of one
 * type, bf16 or fp16; any strides, n contiguous. k is fp32 [h_k, nk], nk contiguous; h is a
 * multiple of h_k. Any n to 2^24 and nk to 2^30, also 0; taps behind n do nothing, and a circular
 * filter has at most n. Sequences are cut into windows, and filters, of all nk taps, into pieces,
 * of 1024 elements or more; of all windows, and of all pieces, there are fewer than 2^29. What is
 * more is TK_UNSUPPORTED.
 *
 * It is done by Fourier transforms, so that an element of y has an error from all elements of its
 * window of x, of up to 16384 neighbours; filters of up to 128 taps that reach an element are
 * applied directly. Factors of the transforms' products are fp16, scaled by powers of two, but
 * those of filters that fp16 sequences meet are fp32; short filters are rounded to the type; sums
 * are fp32. The root of the mean square of the error is at most twice that of rounding exact
 * operands and results to the type. Magnitudes from 2^-60 to 2^60 are right; NaN and infinity reach
 * all elements of y of blocks whose windows they lie in, earlier ones too, of no other channel and
 * sequence.
 *
 * filter_is_ready: 1 where the workspace is that of an earlier call that wanted y, or, of
 * tk_fft_conv_backward, du, dpre or dpost, with any b above 0, for the same k, h, n, type and kind
 * of convolution, on the same chip, and nobody has written to it since: it still has the filters'
 * transforms, if that takes any, and they are not made again. k's elements must be what they were.
 * `repeat`: both are the same: an element's bits depend on its own sequence and filter. */
typedef struct tk_fft_conv_problem {
  size_t size; /* sizeof(tk_fft_conv_problem) */
  DLTensor const* u;
  DLTensor const* k;
  DLTensor const* y;
  DLTensor const* pre;  /* may be NULL */
  DLTensor const* post; /* may be NULL */
  int circular;         /* 0: causal, 1: circular */
  int filter_is_ready;  /* 0 or 1 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_fft_conv_problem;

TK_API tk_status tk_fft_conv(tk_fft_conv_problem const* problem, void* workspace,
                             size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_FFT_CONV_H */
