/* SPDX-License-Identifier: MIT
 * The C interface of attention_forward; what holds of every call is in tk_base.h. */
#ifndef TK_ATTENTION_FORWARD_H
#define TK_ATTENTION_FORWARD_H

#include "ops/attention/attention_options.h"
#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* o = softmax(scale q k^T + mask) v, and lse[b, hq, nq] = ln sum exp(scale q k^T + mask)
 *
 * q is [b, nq, hq, d], k is [b, nk, hk, d], v is [b, nk, hk, dv], o is [b, nq, hq, dv], all of one
 * type, bf16 or fp16; lse is fp32 and may be NULL. Scores are masked as a matrix of nq rows and nk
 * columns. hq is a multiple of hk: query head h reads key head h / (hq / hk). d and dv are
 * multiples of 8 up to 256 (else TK_UNSUPPORTED). nq and nk may be 0; nq + nk, and the blocks of 16
 * rows of a head in q, are at most 2^31 - 1025 (else TK_UNSUPPORTED). A row that sees no key gives
 * o = 0 and lse = -inf. Scores, maximum and sums are fp32; a row with scores past 2^27, whose
 * rounding exp magnifies, may be wrong or NaN.
 *
 * What a row does not see does not reach it, not even as NaN, with one exception: under a mask, NaN
 * or infinity in the values of the 512 keys after the last one that it sees, and under a window
 * also of the 512 before the first, may (0 times NaN, within the tiles on the mask's edge). A score
 * of -inf counts as a key unseen, but is no mask: NaN or infinity in that key's value, and where a
 * bias made it, in the key, may reach the row at any distance. `repeat`: the bits of a row of o and
 * of lse depend on that row of q and on the keys and values that it sees, with TK_REPEAT_RUN as
 * well. */
typedef struct tk_attention_forward_problem {
  size_t size; /* sizeof(tk_attention_forward_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* o;
  DLTensor const* lse; /* may be NULL */
  tk_mask mask;
  float scale; /* finite; 1 / sqrt(d) is usual */
  /* the first version ended here */
  tk_repeat repeat;
  int reserved;                        /* 0 */
  tk_attention_options const* options; /* NULL: none */
} tk_attention_forward_problem;

TK_API tk_status tk_attention_forward(tk_attention_forward_problem const* problem, void* workspace,
                                      size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_ATTENTION_FORWARD_H */
