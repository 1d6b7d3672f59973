/* SPDX-License-Identifier: MIT
 * The C interface of linear_attention; what holds of every call is in tk_base.h. */
#ifndef TK_LINEAR_ATTENTION_H
#define TK_LINEAR_ATTENTION_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Causal attention without softmax, from a state of d by dv numbers for each head:
 *   S_t = a_t S_(t-1) + k_t^T v_t,  o_t = scale q_t S_t,  a_t = exp(log_decay_t) or exp(-decay)
 *
 * q and k are [b, n, h, d], v and o [b, n, h, dv], all of one type, bf16 or fp16; d and dv are
 * multiples of 16 up to 256 (else TK_UNSUPPORTED); any n, also 0. Decays are fp32: log_decay[b, n,
 * h], at most 0, of each token and head, or decay[h], 0 or more, of each head, or neither; with
 * numbers of the other sign states grow, and are right while they are finite. A factor below 2^-160
 * counts as 2^-160. States are fp32 [b, h, d, dv]: S_0 is initial_state, or 0, and final_state,
 * where given, gets S_n. They may be the same memory: a step of decoding is a call with n = 1.
 *
 * Packed sequences: q, k, v, o lack b, n counts the tokens of all, log_decay is [total, h], and
 * starts, int32 [b + 1] on the device, says where each begins and the last ends. What is negative
 * counts as 0, what is above the total as the total; tokens of no sequence are not written. Starts
 * must not decrease: where they do, any sequence may get wrong results, and nothing outside of the
 * outputs is written. The blocks of 16 tokens of all heads, of which a sequence may leave one in
 * part, are at most 2^26 (else TK_UNSUPPORTED).
 *
 * Sums are fp32; weights within a chunk of up to 64 tokens, weighted values, and the state where it
 * meets a query, are rounded to the type: what fp16 holds no more, below 2^-24, is lost. NaN or
 * infinity in v of a token may reach earlier tokens of its chunk (0 times NaN), none of another
 * sequence or head. `repeat`: a token's bits depend on its sequence and head up to the end of its
 * chunk; with TK_REPEAT_RUN also on whether it is a sequence of one token in a batch of such: these
 * are steps of decoding, in which nothing is rounded but o. */
typedef struct tk_linear_attention_problem {
  size_t size; /* sizeof(tk_linear_attention_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* o;
  DLTensor const* log_decay;     /* may be NULL */
  DLTensor const* decay;         /* may be NULL; NULL where log_decay is given */
  DLTensor const* initial_state; /* may be NULL: 0 */
  DLTensor const* final_state;   /* may be NULL: not wanted */
  DLTensor const* starts;        /* NULL: a batch */
  float scale;                   /* of magnitude 2^-64 to 2^64; 1 / sqrt(d) is usual */
  int reserved2;                 /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_linear_attention_problem;

TK_API tk_status tk_linear_attention(tk_linear_attention_problem const* problem, void* workspace,
                                     size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_LINEAR_ATTENTION_H */
