/* SPDX-License-Identifier: MIT
 * The C interface of topk; what holds of every call is in tk_base.h. */
#ifndef TK_TOPK_H
#define TK_TOPK_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The k largest numbers of each row of x, the largest first, and the columns that they are in; the
 * smallest, the smallest first, where `smallest` is 1. k is the last size of values and indices; of
 * k = 1 indices are argmax, or argmin.
 *
 * The order is total, and so the result exact: by value, and equal values by column, the lowest
 * first. -0 and +0 are equal. NaN counts as larger than everything (the first of the largest, the
 * last of the smallest), and NaNs among themselves are equal, of whatever sign and payload.
 * Subnormal numbers count as what they are.
 *
 * x is [b, h, rows, width], [h, rows, width], [rows, width] or [width], which is one row: bf16,
 * fp16 or fp32. values has x's rank and type, indices x's rank and int32 or int64; their sizes are
 * x's but for the last, which is k in both. At least one of the two is given. k may be 0, which
 * leaves nothing to do, and goes to width (else TK_BAD_SHAPE) and to 1024 (else TK_UNSUPPORTED).
 * Sizes may be 0; width, and the rows of all matrices together, go to 2^31 - 65537 (else
 * TK_UNSUPPORTED). Results share no memory with x or one another.
 *
 * values are copies of x's elements, bit for bit. No workspace is needed. `repeat`: a row's results
 * depend on that row alone, with TK_REPEAT_RUN as well.
 *
 * Source: a row is read once, and what is above the k-th largest so far is kept (WarpSelect, in
 * Johnson et al., "Billion-scale similarity search with GPUs", arXiv 1702.08734); what is kept is
 * sorted by Batcher's bitonic network. */
typedef struct tk_topk_problem {
  size_t size; /* sizeof(tk_topk_problem) */
  DLTensor const* x;
  DLTensor const* values;  /* may be NULL where indices is not */
  DLTensor const* indices; /* may be NULL where values is not */
  int smallest;            /* 0 or 1 */
  int reserved2;           /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_topk_problem;

TK_API tk_status tk_topk(tk_topk_problem const* problem, void* workspace, size_t workspace_bytes,
                         void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_TOPK_H */
