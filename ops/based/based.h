/* SPDX-License-Identifier: MIT
 * The C interface of based; what holds of every call is in tk_base.h. */
#ifndef TK_BASED_H
#define TK_BASED_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Based: causal linear attention with a second-order Taylor feature map (Arora et al., 2024),
 *   o_i = sum over j <= i of (1 + s_ij + s_ij^2 / 2) v_j,  s_ij = scale q_i.k_j
 * and where normalise is 1 divided by 1e-6 + the sum over j <= i of (1 + s_ij + s_ij^2 / 2).
 *
 * q and k are [b, n, h, 16], v and o [b, n, h, dv], all of one type, bf16 or fp16; dv is a multiple
 * of 16 up to 256 (else TK_UNSUPPORTED); any n, also 0, but blocks as in linear_attention.h.
 *
 * States are fp32 [b, h, 153, dv]: sums over tokens j of a moment of k_j times v_j, without scale.
 * Row 0 is the sum of v_j; rows 1 to 16 of k_j[a] v_j, a from 0 to 15; row
 * 17 + 16 a - a (a - 1) / 2 + c - a, for 0 <= a <= c <= 15, of k_j[a] k_j[c] v_j: pairs in
 * lexicographic order. With the normaliser there are sums too, fp32 [b, h, 153], the same moments
 * without v_j: the first is the number of tokens. o_1 sees initial_state and initial_sums, or 0;
 * final_state and final_sums, where given, get those after the last token. A final one may be the
 * same memory as its initial one: a step of decoding is a call with n = 1. Sums are given with
 * normalise = 1 only.
 *
 * Packed sequences, as in linear_attention.h: q, k, v, o lack b, and starts, int32 [b + 1] on the
 * device, says where each begins and the last ends.
 *
 * Sums are fp32; the weights within a chunk of up to 64 tokens, products of two elements of q or k,
 * and the state where it meets a query, with its factor of scale, are rounded to the type: fp16
 * holds no more than 65504, and what is below 2^-24 is lost. NaN or infinity in v of a token may
 * reach earlier tokens of its chunk (0 times NaN), none of another sequence or head. `repeat`: a
 * token's bits depend on its sequence and head up to the end of its chunk; with TK_REPEAT_RUN also
 * on whether it is a sequence of one token in a batch of such: these are steps of decoding, in
 * which nothing is rounded but o. */
typedef struct tk_based_problem {
  size_t size; /* sizeof(tk_based_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* o;
  DLTensor const* initial_state; /* may be NULL: 0 */
  DLTensor const* final_state;   /* may be NULL: not wanted */
  DLTensor const* initial_sums;  /* may be NULL: 0 */
  DLTensor const* final_sums;    /* may be NULL: not wanted */
  DLTensor const* starts;        /* NULL: a batch */
  float scale;                   /* of magnitude 2^-32 to 2^32; 1 / 4 is usual */
  int normalise;                 /* 0 or 1 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_based_problem;

TK_API tk_status tk_based(tk_based_problem const* problem, void* workspace, size_t workspace_bytes,
                          void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_BASED_H */
