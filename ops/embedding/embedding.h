/* SPDX-License-Identifier: MIT
 * The C interface of embedding; what holds of every call is in tk_base.h. */
#ifndef TK_EMBEDDING_H
#define TK_EMBEDDING_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a table, by number: y[..., :] = table[ids[...], :].
 *
 * table is [v, d] (bf16, fp16 or fp32), ids [n], [s, n] or [b, s, n] of int32 or int64 on the
 * device, with any strides, those of its last dimension too; y has the sizes of ids and then d, and
 * table's type. A number that is no row of the table, below 0 or v and above, reads nothing and
 * gives zeros. Sizes may be 0; b s n and d go to 2^31 - 65537 (else TK_UNSUPPORTED). y shares no
 * memory with table and ids.
 *
 * Values are copied; a NaN may become another. `repeat`: a row of y is a row of the table, whatever
 * others are beside it. What no number names reaches nothing. */
typedef struct tk_embedding_problem {
  size_t size; /* sizeof(tk_embedding_problem) */
  DLTensor const* table;
  DLTensor const* ids;
  DLTensor const* y;
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_embedding_problem;

TK_API tk_status tk_embedding(tk_embedding_problem const* problem, void* workspace,
                              size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_EMBEDDING_H */
