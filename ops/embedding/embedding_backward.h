/* SPDX-License-Identifier: MIT
 * The C interface of embedding_backward; what holds of every call is in tk_base.h. */
#ifndef TK_EMBEDDING_BACKWARD_H
#define TK_EMBEDDING_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gradient of tk_embedding's table:
 *   dtable[r, :] = sum of dy[i, :] over the tokens i with ids[i] == r
 *
 * dy is [n, d], [s, n, d] or [b, s, n, d] (bf16, fp16 or fp32), ids has dy's sizes but for d, of
 * int32 or int64 on the device, with any strides, those of its last dimension too; dtable is [v,
 * d], of dy's type or fp32. Every row of dtable is written: zeros, where no token names it. A token
 * whose number is no row of dtable, below 0 or v and above, counts for nothing; nor does one whose
 * number is ignored_id, where `ignores` is 1 (PyTorch's padding_idx). Sizes may be 0; b s n and d
 * go to 2^31 - 65537 (else TK_UNSUPPORTED). dtable shares no memory with dy and ids.
 *
 * Sums are fp32: of a row's tokens in ascending order (of b, then s, then n), 128 at a time, and
 * then of these sums in their order; rounded once, and below 2^-126 they may be 0. The workspace
 * has tokens sorted by row (a stable radix sort), 16 bytes for each, and where there are more than
 * 128, as many bytes as two rows of fp32 for every 128.
 * `repeat`: the bits of a row of dtable depend on the rows of dy whose tokens name it and on their
 * order, and on nothing else, with TK_REPEAT_RUN as well. NaN and infinities in a row of dy reach
 * the row of dtable that its token names, and no other; in tokens that count for nothing, none. */
typedef struct tk_embedding_backward_problem {
  size_t size; /* sizeof(tk_embedding_backward_problem) */
  DLTensor const* dy;
  DLTensor const* ids;
  DLTensor const* dtable;
  int64_t ignored_id; /* 0 where `ignores` is 0 */
  int ignores;        /* 0 or 1 */
  int reserved2;      /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_embedding_backward_problem;

TK_API tk_status tk_embedding_backward(tk_embedding_backward_problem const* problem,
                                       void* workspace, size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_EMBEDDING_BACKWARD_H */
