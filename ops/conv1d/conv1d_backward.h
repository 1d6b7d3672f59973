/* SPDX-License-Identifier: MIT
 * The C interface of conv1d_backward; what holds of every call is in tk_base.h. */
#ifndef TK_CONV1D_BACKWARD_H
#define TK_CONV1D_BACKWARD_H

#include "ops/conv1d/conv1d.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gradients of the sum of y dy + final_state dfinal_state, where y and final_state are those of
 * tk_conv1d of the same x, weight, bias, initial_state, starts and activation. With
 * g[b, t, c] = dy[b, t, c] act'(bias[c] + ...), 0 where there is no token t, and x[b, -1, c] the
 * last row of initial_state,
 *   dx[b, t, c]   = sum over i of weight[c, i] g[b, t + w - 1 - i, c], and what of dfinal_state
 *                   is the token's; dinitial_state likewise, where t is -(w - 1) to -1
 *   dweight[c, i] = sum over b and t of g[b, t, c] x[b, t - (w - 1) + i, c]
 *   dbias[c]      = sum over b and t of g[b, t, c]
 *
 * dy and dx have x's sizes and type, dinitial_state and dfinal_state those of initial_state.
 * dweight is [c, w], dbias [c], contiguous, of one type: x's or fp32. dweight, dbias and
 * dinitial_state may be NULL, and are not written then; bias, initial_state and dfinal_state: 0.
 * Results share no byte with an operand, nor with one another. Of sizes, packed sequences and
 * starts holds what tk_conv1d says; dx of tokens of no sequence is not written. Where there is no
 * token, dweight and dbias are 0. Its workspace holds sums, of some walks through the tokens a
 * number for each tap and channel.
 *
 * Sums are fp32, and every result is rounded once; what is below 2^-126 may be 0. SiLU's slope is
 * computed anew. NaN and infinity reach what the formulas say. `repeat`: the bits of dx and
 * dinitial_state follow from their channel's tokens up to w - 1 behind them, weight and bias, with
 * TK_REPEAT_RUN as well. dweight and dbias, which sum over tokens, have equal bits from run to run
 * alone, with either. */
typedef struct tk_conv1d_backward_problem {
  size_t size; /* sizeof(tk_conv1d_backward_problem) */
  DLTensor const* x;
  DLTensor const* weight;
  DLTensor const* bias; /* may be NULL */
  DLTensor const* dy;
  DLTensor const* initial_state; /* may be NULL: 0 */
  DLTensor const* dfinal_state;  /* may be NULL: 0 */
  DLTensor const* starts;        /* NULL: a batch */
  DLTensor const* dx;
  DLTensor const* dweight;        /* may be NULL */
  DLTensor const* dbias;          /* may be NULL */
  DLTensor const* dinitial_state; /* may be NULL */
  tk_activation_kind activation;  /* TK_ACTIVATION_NONE or TK_ACTIVATION_SILU */
  int reserved_activation;        /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_conv1d_backward_problem;

TK_API tk_status tk_conv1d_backward(tk_conv1d_backward_problem const* problem, void* workspace,
                                    size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_CONV1D_BACKWARD_H */
