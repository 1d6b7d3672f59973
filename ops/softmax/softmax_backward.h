/* SPDX-License-Identifier: MIT
 * The C interface of softmax_backward; what holds of every call is in tk_base.h. */
#ifndef TK_SOFTMAX_BACKWARD_H
#define TK_SOFTMAX_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dx and dbias: the gradients of a sum of y * dy, y = softmax(scale x + bias), from the y of
 * tk_softmax, with the same scale and mask. With t = y (dy - sum over the row of y dy), taken over
 * the columns that a row sees:
 *   dx = scale t, dbias = t
 *
 * y, dy, dx and dbias are [b, h, rows, width], [h, rows, width], [rows, width] or [width], which is
 * one row, of one rank, the same sizes and one type: bf16, fp16 or fp32. dbias may be NULL: not
 * written; of a bias that stood for several rows the gradient is the sum of theirs. Sizes may be 0;
 * width, and the rows of all matrices together, go to 2^31 - 65537 (else TK_UNSUPPORTED). dx may be
 * y or dy itself (same data, shape and strides), and so may dbias, where dx is not.
 *
 * Of the forward's bool_mask nothing is asked: where it is false, y is 0, and so are dx and dbias,
 * whatever finite number dy is. An infinity or NaN of dy there reaches its row.
 *
 * Products and sums are fp32, and below 2^-126 may be 0, t before scale, too; dx and dbias are
 * rounded once. Where a row does not see a column, dx and dbias are 0, and y and dy are not read.
 * NaN in y or dy gives NaN in all that its row sees, an infinity NaN or infinities, and nothing in
 * other rows; so do products and sums past fp32. `repeat`: the bits of a row depend on that row of
 * y and of dy, and on the columns that it sees, with TK_REPEAT_RUN as well; this holds between
 * problems in which every row of every tensor begins and ends at a multiple of 16 bytes, and
 * between others in which that row of y has the same address modulo 16. */
typedef struct tk_softmax_backward_problem {
  size_t size; /* sizeof(tk_softmax_backward_problem) */
  DLTensor const* y;
  DLTensor const* dy;
  DLTensor const* dx;
  DLTensor const* dbias; /* may be NULL */
  tk_mask mask;
  float scale; /* finite, as in the forward */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_softmax_backward_problem;

TK_API tk_status tk_softmax_backward(tk_softmax_backward_problem const* problem, void* workspace,
                                     size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_SOFTMAX_BACKWARD_H */
