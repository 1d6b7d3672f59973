/* SPDX-License-Identifier: MIT
 * The C interface of linear_attention_backward; what holds of every call is in tk_base.h. */
#ifndef TK_LINEAR_ATTENTION_BACKWARD_H
#define TK_LINEAR_ATTENTION_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gradients of linear_attention (linear_attention.h) for q, k, v, the initial state and decays,
 * from what it was given, dout [b, n, h, dv] as o, and dfinal_state as final_state, or 0:
 *   D_n = dfinal_state + scale q_n^T dout_n,  D_t = a_(t+1) D_(t+1) + scale q_t^T dout_t
 *   dq_t = scale dout_t S_t^T,  dk_t = v_t D_t^T,  dv_t = k_t D_t,  dinitial_state = a_1 D_1
 *   dlog_decay_t = a_t <S_(t-1), D_t>,  ddecay of a head = - the sum of these over all its tokens
 *
 * Shapes, types, decays, packed sequences, limits and rounding as there; dq is as q, dk as k, dv as
 * v, dinitial_state as initial_state, dlog_decay as log_decay, ddecay as decay. dfinal_state /
 * scale must be 0 or of fp32's normal magnitudes, for so D is kept. Deterministic; a token's bits
 * depend on its sequence and head alone. Gradients of decays are sums of products of tokens with
 * those before them, one factor rounded to the type, and of the states that a chunk begins with,
 * rounded, and those it ends with; workspace for them is 2 h d dv bytes a chunk, d and dv counted
 * in the tiles of the chip, and for each tile of d 8 h bytes a token and 4 h dv a chunk. */
typedef struct tk_linear_attention_backward_problem {
  size_t size; /* sizeof(tk_linear_attention_backward_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* dout;
  DLTensor const* dq;
  DLTensor const* dk;
  DLTensor const* dv;
  DLTensor const* log_decay;      /* may be NULL */
  DLTensor const* decay;          /* may be NULL; NULL where log_decay is given */
  DLTensor const* initial_state;  /* may be NULL: 0 */
  DLTensor const* dfinal_state;   /* may be NULL: 0 */
  DLTensor const* dinitial_state; /* may be NULL: not wanted */
  DLTensor const* dlog_decay;     /* may be NULL: not wanted; NULL where log_decay is */
  DLTensor const* ddecay;         /* may be NULL: not wanted; NULL where decay is */
  DLTensor const* starts;         /* NULL: a batch */
  float scale;                    /* of magnitude 2^-64 to 2^64; 1 / sqrt(d) is usual */
  int reserved2;                  /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_linear_attention_backward_problem;

TK_API tk_status tk_linear_attention_backward(tk_linear_attention_backward_problem const* problem,
                                              void* workspace, size_t workspace_bytes,
                                              void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_LINEAR_ATTENTION_BACKWARD_H */
