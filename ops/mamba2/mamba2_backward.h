/* SPDX-License-Identifier: MIT
 * The C interface of mamba2_backward; what holds of every call is in tk_base.h. */
#ifndef TK_MAMBA2_BACKWARD_H
#define TK_MAMBA2_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gradients of mamba2 (mamba2.h) for all that it was given, from dy, which is as y, and
 * dfinal_state as final_state, or 0. Each has the shape and type of what it is of, any strides of
 * its own: dx, dz and dy are as x, ddt as dt, dB and dC as B, dA, dD, ddt_bias and dinitial_state
 * as their own. With dout = dy silu(z) and
 *   G_n = dfinal_state + dout_n C_n^T,  G_t = exp(dt'_(t+1) A) G_(t+1) + dout_t C_t^T
 * they are
 *   dx_t = dt'_t G_t B_t + D dout_t      dB_t = dt'_t x_t^T G_t      dC_t = dout_t^T S_t
 *   dz_t = dy_t (S_t C_t + D x_t) silu'(z_t)      dD = sum of dout_t x_t
 *   ddt_t = (x_t^T G_t B_t + A g_t) slope of dt' by dt,  g_t = exp(dt'_t A) <S_(t-1), G_t>
 *   dA = sum of dt'_t g_t      ddt_bias = sum of ddt_t      dinitial_state = exp(dt'_1 A) G_1
 * dB and dC are sums over the heads of a group. The slope is 0 where dt' was clamped.
 *
 * Shapes, types, packed sequences and limits as in mamba2.h; states on the way, and their
 * gradients, are rounded to the type, sums over heads are fp32; of g linear_attention_backward.h
 * speaks. Deterministic; a token's bits depend on its sequence and group alone. Workspace: 2 h p s
 * numbers of the type for each chunk, s counted in the tiles of the chip, with z also 2 n h p; 40
 * bytes for each token and head; and where a group has more than 16 heads, for each 16 of them 8 s
 * bytes a token. */
typedef struct tk_mamba2_backward_problem {
  size_t size; /* sizeof(tk_mamba2_backward_problem) */
  DLTensor const* x;
  DLTensor const* dt;
  DLTensor const* A;
  DLTensor const* B;
  DLTensor const* C;
  DLTensor const* D;       /* may be NULL: 0 */
  DLTensor const* z;       /* may be NULL: no gate */
  DLTensor const* dt_bias; /* may be NULL: 0 */
  DLTensor const* dy;
  DLTensor const* dx;
  DLTensor const* ddt;
  DLTensor const* dA;
  DLTensor const* dB;
  DLTensor const* dC;
  DLTensor const* dD;             /* may be NULL: not wanted; NULL where D is */
  DLTensor const* dz;             /* may be NULL: not wanted; NULL where z is */
  DLTensor const* ddt_bias;       /* may be NULL: not wanted; NULL where dt_bias is */
  DLTensor const* initial_state;  /* may be NULL: 0 */
  DLTensor const* dfinal_state;   /* may be NULL: 0 */
  DLTensor const* dinitial_state; /* may be NULL: not wanted */
  DLTensor const* starts;         /* NULL: a batch */
  float dt_min;                   /* 0 is usual */
  float dt_max;                   /* at least dt_min; INFINITY is usual */
  int dt_softplus;                /* 0 or 1 */
  int reserved2;                  /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_mamba2_backward_problem;

TK_API tk_status tk_mamba2_backward(tk_mamba2_backward_problem const* problem, void* workspace,
                                    size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_MAMBA2_BACKWARD_H */
