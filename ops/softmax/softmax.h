/* SPDX-License-Identifier: MIT
 * The C interface of softmax; what holds of every call is in tk_base.h. */
#ifndef TK_SOFTMAX_H
#define TK_SOFTMAX_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = softmax(scale x + bias) over the last dimension, of the elements that a row sees
 *
 * x and y are [b, h, rows, width], [h, rows, width], [rows, width] or [width], which is one row, of
 * one rank, the same sizes and one type: bf16, fp16 or fp32. bias may be NULL, which is 0; it has
 * x's rank, each size but the last is x's or 1, which stands for all of them, and it is of x's type
 * or fp32. Sizes may be 0; width, and the rows of all matrices together, go to 2^31 - 65537 (else
 * TK_UNSUPPORTED). y may be x itself (same data, shape and strides).
 *
 * A row sees the elements that both masks let it see. `mask` goes by columns. `bool_mask` may be
 * NULL; it has x's rank, each size but the last is x's or 1, which stands for all of them, and it
 * is bool (TK_DL_BOOL) or uint8: a row sees an element where its byte is not 0.
 *
 * Scores, scale x + bias, are fp32 and not rounded to x's type, as are their exponentials and the
 * sum of these; y is rounded once, and below 2^-125 it may be 0. An element whose score is -inf has
 * weight 0; a row that sees no element, or scores of -inf alone, gives zeros. NaN or +inf among the
 * scores that a row sees gives NaN in all that it sees, and nothing in other rows. What it does not
 * see is written as 0 and does not reach it, not even as NaN. Scores, and both terms of each, must
 * be below 2^127 in magnitude, infinities of x and bias aside (larger: 0 or NaN). `repeat`: the
 * bits of a row depend on that row of x, of bias and of bool_mask, on which of these are given, and
 * on the columns that it sees, with TK_REPEAT_RUN as well; this holds between problems in which
 * every row of every tensor begins and ends at a multiple of 16 bytes, of bool_mask of 8, and
 * between others in which that row of x has the same address modulo 16. */
typedef struct tk_softmax_problem {
  size_t size; /* sizeof(tk_softmax_problem) */
  DLTensor const* x;
  DLTensor const* bias; /* may be NULL */
  DLTensor const* y;
  tk_mask mask;
  float scale; /* finite, of any sign; 1 is the plain softmax; 0 times infinity is NaN */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved;              /* 0 */
  DLTensor const* bool_mask; /* may be NULL */
} tk_softmax_problem;

TK_API tk_status tk_softmax(tk_softmax_problem const* problem, void* workspace,
                            size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_SOFTMAX_H */
