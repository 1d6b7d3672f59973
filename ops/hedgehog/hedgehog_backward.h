/* SPDX-License-Identifier: MIT
 * The C interface of hedgehog_backward; what holds of every call is in tk_base.h. */
#ifndef TK_HEDGEHOG_BACKWARD_H
#define TK_HEDGEHOG_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gradients of hedgehog (hedgehog.h) for q, k, v, maps, factors and initial states, from what
 * it was given, o and normaliser, which it gave, dout [b, nq, h, 128], and dfinal_* as final_*, or
 * 0. dq is as q, dk as k, dv as v, dinitial_* as initial_*; dmap_q and dmap_k are fp32 [h, 128,
 * 64], dalpha and dbeta fp32 [h]. The largest score of a window, which is subtracted, counts as a
 * function of q and k; where several are the largest, each gets an equal part. A feature at 1e-6
 * gives its softmax no gradient. Queries without a token get no dq; keys past a length get 0.
 *
 * Shapes, types, sequences and limits as there. Deterministic; with TK_REPEAT_RUN as well, a
 * token's bits depend on its sequence and head alone, and gradients of maps and factors are sums
 * over all tokens in a fixed order; those of factors have terms of both signs, which the rounding
 * of o reaches. Sums are fp32; weights and features, states where they meet v or dout, and the
 * gradients of scores and of x map are rounded to the type. Workspace is h (528 nq + 1568 nk) bytes
 * for each sequence of a batch, and little more. */
typedef struct tk_hedgehog_backward_problem {
  size_t size; /* sizeof(tk_hedgehog_backward_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* o;
  DLTensor const* dout;
  DLTensor const* normaliser;
  DLTensor const* map_q;
  DLTensor const* map_k;
  DLTensor const* alpha;
  DLTensor const* beta;
  DLTensor const* initial_kv; /* may be NULL: 0; so with initial_k, both or none */
  DLTensor const* initial_k;
  DLTensor const* dfinal_kv; /* may be NULL: 0; so with dfinal_k, both or none */
  DLTensor const* dfinal_k;
  DLTensor const* dq;
  DLTensor const* dk;
  DLTensor const* dv;
  DLTensor const* dmap_q;      /* may be NULL: not wanted */
  DLTensor const* dmap_k;      /* may be NULL: not wanted */
  DLTensor const* dalpha;      /* may be NULL: not wanted */
  DLTensor const* dbeta;       /* may be NULL: not wanted */
  DLTensor const* dinitial_kv; /* may be NULL: not wanted; so with dinitial_k, both or none */
  DLTensor const* dinitial_k;
  DLTensor const* starts;     /* NULL: a batch */
  DLTensor const* key_starts; /* NULL: as starts */
  DLTensor const* lengths;    /* may be NULL: nk */
  float scale;                /* from 2^-64 to 2^64 */
  int reserved2;              /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_hedgehog_backward_problem;

TK_API tk_status tk_hedgehog_backward(tk_hedgehog_backward_problem const* problem, void* workspace,
                                      size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_HEDGEHOG_BACKWARD_H */
