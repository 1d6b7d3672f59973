/* SPDX-License-Identifier: MIT
 * The C interface of rotary; what holds of every call is in tk_base.h. */
#ifndef TK_ROTARY_H
#define TK_ROTARY_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rotary position embedding (RoFormer, arXiv 2104.09864) of queries q and keys k: with row p of cos
 * and sin, which is the token's, pairs of columns of every head become
 *   first'  = first cos[p, i] - second sin[p, i]
 *   second' = second cos[p, i] + first sin[p, i],  0 <= i < w
 * First and second are columns i and i + w (halves, as in LLaMA), or 2 i and 2 i + 1 where
 * `interleaved` is 1 (as in GPT-J). With `inverse` sin counts negatively: the backward, which makes
 * dq and dk of dq_out and dk_out. Columns from 2 w on pass through; a NaN there may become another.
 *
 * q and q_out are [b, n, h, d] or [n, h, d], of the same sizes and one type: bf16, fp16 or fp32; k
 * and k_out have that type, b, n, d and their own number of heads. k and k_out may both be NULL.
 * cos and sin are [m, w] with 2 w <= d, of q's type or fp32, both of the same. The row of a token
 * is
 *   its place in n, 0 and up, and m >= n; or
 *   positions[b, n] ([n] where q has three dimensions), int32 or int64; or
 *   its place in n more than offsets[b] ([1] where q has three dimensions), int32 or int64.
 * At most one of positions and offsets is given; both may have any strides, their last dimension
 * too. A row that is none of the tables' reads nothing of them, and gives 0 in columns below 2 w
 * where it is finite itself. Sizes may be 0; b n h, b n hk and d go to 2^31 - 65537 (else
 * TK_UNSUPPORTED). q_out may be q itself, and k_out k (same data, shape and strides).
 *
 * Arithmetic is fp32; results are rounded once, and below 2^-126 they may be 0. `repeat`: an
 * element depends on its pair and angle alone; its bits may differ between problems of different
 * widths or alignment by what fp32 commits, and between tokens and heads of one problem do not. */
typedef struct tk_rotary_problem {
  size_t size; /* sizeof(tk_rotary_problem) */
  DLTensor const* q;
  DLTensor const* k; /* may be NULL, and then k_out is */
  DLTensor const* cos;
  DLTensor const* sin;
  DLTensor const* positions; /* may be NULL */
  DLTensor const* offsets;   /* may be NULL; is, where positions is not */
  DLTensor const* q_out;
  DLTensor const* k_out;
  int interleaved; /* 0 or 1 */
  int inverse;     /* 0 or 1 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_rotary_problem;

TK_API tk_status tk_rotary(tk_rotary_problem const* problem, void* workspace,
                           size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_ROTARY_H */
