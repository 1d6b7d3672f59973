/* SPDX-License-Identifier: MIT
 * The C interface of based_backward; what holds of every call is in tk_base.h. */
#ifndef TK_BASED_BACKWARD_H
#define TK_BASED_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gradients of based (based.h) for q, k, v, the initial state and sums, from what it was given,
 * dout [b, n, h, dv] as o, and dfinal_state as final_state, dfinal_sums as final_sums, or 0. With
 * m(x) the 153 moments, S_t and Z_t the state and the sums after token t, w(q) the moments of q
 * with their weights, z_t = w(q_t) Z_t + 1e-6 with the normaliser, else 1:
 *   g_t = dout_t / z_t,  r_t = - dout_t.o_t / z_t with the normaliser, else 0
 *   D_t = dfinal_state + sum over i >= t of w(q_i)^T g_i,  E_t = dfinal_sums + sum of w(q_i)^T r_i
 *   dq_t = dw(q_t) (S_t g_t + Z_t r_t),  dk_t = dm(k_t) (D_t v_t + E_t),  dv_t = m(k_t) D_t
 *   dinitial_state = D_1,  dinitial_sums = E_1
 *
 * Shapes, types, packed sequences, limits and rounding as there. dq is as q, dk as k, dv as v,
 * dinitial_state as initial_state, dinitial_sums as initial_sums. Moments of q and k, what dq and
 * dk are made of, and with the normaliser o, g and r, are rounded to the type. Deterministic; a
 * token's bits depend on its sequence and head alone. Workspace is 960 bytes for each token and
 * head, with the normaliser 1028 + 6 dv, and 320 more for a dv of 256; and states. */
typedef struct tk_based_backward_problem {
  size_t size; /* sizeof(tk_based_backward_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* dout;
  DLTensor const* dq;
  DLTensor const* dk;
  DLTensor const* dv;
  DLTensor const* initial_state;  /* may be NULL: 0 */
  DLTensor const* dfinal_state;   /* may be NULL: 0 */
  DLTensor const* dinitial_state; /* may be NULL: not wanted */
  DLTensor const* initial_sums;   /* may be NULL: 0 */
  DLTensor const* dfinal_sums;    /* may be NULL: 0 */
  DLTensor const* dinitial_sums;  /* may be NULL: not wanted */
  DLTensor const* starts;         /* NULL: a batch */
  float scale;                    /* of magnitude 2^-32 to 2^32; 1 / 4 is usual */
  int normalise;                  /* 0 or 1 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_based_backward_problem;

TK_API tk_status tk_based_backward(tk_based_backward_problem const* problem, void* workspace,
                                   size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_BASED_BACKWARD_H */
