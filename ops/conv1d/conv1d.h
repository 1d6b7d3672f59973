/* SPDX-License-Identifier: MIT
 * The C interface of conv1d; what holds of every call is in tk_base.h. */
#ifndef TK_CONV1D_H
#define TK_CONV1D_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A short causal convolution along tokens, of each channel by itself, as it stands before a
 * state-space model or linear attention:
 *   y[b, t, c] = act(bias[c] + sum over i < w of weight[c, i] x[b, t - (w - 1) + i, c])
 *
 * x and y are [b, n, c], or [n, c] where b is 1, of one type: bf16, fp16 or fp32. weight is [c, w],
 * w from 2 to 4, contiguous, of x's type or fp32, bias [c] of weight's type, or NULL: 0. act is
 * TK_ACTIVATION_NONE or TK_ACTIVATION_SILU.
 *
 * States are the last w - 1 tokens, the oldest first: [b, w - 1, c], or [w - 1, c] where b is 1, of
 * x's type. initial_state is what comes before the first token, 0 where it is NULL; final_state,
 * where given, gets what comes before the token after the last, tokens of initial_state among it
 * where n is below w - 1. It may be initial_state itself (same data, shape and strides): a step of
 * decoding is a call with n = 1, which moves the state on in its place.
 *
 * Packed sequences, where starts is given, int32 [sequences + 1] on the device: b is 1, and
 * sequence s has the tokens from starts[s] up to starts[s + 1]; there is a state for each:
 * [sequences, w - 1, c]. Tokens of no sequence are not written. Offsets that fall, or lie outside
 * of 0 to n, give sequences of other tokens, of which some may be written twice or never: nothing
 * outside a tensor is read or written.
 *
 * Sizes may be 0, but w. b n, c w, and where packed n + sequences go to 2^31 - 65537, and so does
 * the number of pieces of 128 tokens and 256 channels into which sequences are cut (else
 * TK_UNSUPPORTED). No workspace is wanted.
 *
 * Sums are fp32, bias first, then by rising i; y is rounded once, and below 2^-126 it may be 0, as
 * may a state. NaN and infinity in a token reach it and the w - 1 after it in their channel, no
 * other. `repeat`: both are the same: an element depends on the w elements of x above it, weight
 * and bias alone. */
typedef struct tk_conv1d_problem {
  size_t size; /* sizeof(tk_conv1d_problem) */
  DLTensor const* x;
  DLTensor const* weight;
  DLTensor const* bias; /* may be NULL */
  DLTensor const* y;
  DLTensor const* initial_state; /* may be NULL: 0 */
  DLTensor const* final_state;   /* may be NULL: not wanted */
  DLTensor const* starts;        /* NULL: a batch */
  tk_activation_kind activation; /* TK_ACTIVATION_NONE or TK_ACTIVATION_SILU */
  int reserved_activation;       /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_conv1d_problem;

TK_API tk_status tk_conv1d(tk_conv1d_problem const* problem, void* workspace,
                           size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_CONV1D_H */
