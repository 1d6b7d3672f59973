/* SPDX-License-Identifier: MIT
 * The C interface of linear_cross_entropy; what holds of every call is in tk_base.h. */
#ifndef TK_LINEAR_CROSS_ENTROPY_H
#define TK_LINEAR_CROSS_ENTROPY_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The losses of logits s = x w^T against labels, and the gradients of their sum, times dloss_scale;
 * the logits are never stored whole:
 *   loss, lse  tk_cross_entropy's (cross_entropy.h) of logits that are rounded to x's type
 *   g          its dx, with dloss_scale 1, rounded to x's type
 *   dx         dloss_scale g w
 *   dw         dloss_scale g^T x
 *
 * x and dx are [rows, d], w and dw [vocab, d]; x and w share one type, bf16 or fp16; dx and dw have
 * that type or fp32, each its own; the last dimension of all four is contiguous. labels, int32 or
 * int64, and loss and lse, fp32, are [rows], of any stride. lse, dx and dw may be NULL: not
 * computed. Without dx and dw no gradient is. Sizes may be 0: without rows dw is 0. vocab goes to
 * 2^24, and where there are rows it is 1 or more; rows go to 2^31 - 65537 (else TK_UNSUPPORTED). No
 * output may share memory with another tensor.
 *
 * Options are tk_cross_entropy's, and so is what becomes of ignored labels, of labels that are no
 * columns, and of NaN and infinities in s; ignored rows give 0 to dx and to dw, whatever x and w
 * hold. A row of NaN in g, as a label makes it that is neither ignored nor a column, or NaN or +inf
 * in its s, is a row of NaN in dx, and makes all of dw NaN. In fp16 a logit that rounds to more
 * than 65504 is infinite.
 *
 * Rows are worked off in chunks of chunk_rows, or where that is 0, of as many as have 512 MiB of
 * logits, 128 at least; the workspace has room for one chunk's logits. Where a label is ignored, dw
 * is made of a copy of x without the ignored rows: the workspace has room for a chunk's, too, of
 * which 512 MiB are the limit likewise, and dx is gone over once more. dw is added up chunk by
 * chunk: in fp32 it is rounded once, in x's type after each chunk. All sums are in an order that
 * the sizes, the options and the device decide. `repeat`: with TK_REPEAT_ROW the bits of a row of
 * loss, lse and dx depend on that row of x, its label and w alone (under cross_entropy.h's words on
 * alignment), and on chunk_rows in nothing. */
typedef struct tk_linear_cross_entropy_problem {
  size_t size; /* sizeof(tk_linear_cross_entropy_problem) */
  DLTensor const* x;
  DLTensor const* w;
  DLTensor const* labels;
  DLTensor const* loss;
  DLTensor const* lse; /* may be NULL */
  DLTensor const* dx;  /* may be NULL */
  DLTensor const* dw;  /* may be NULL */
  int64_t ignore_index;
  int64_t chunk_rows;    /* 0 (chosen) or more */
  int has_ignore_index;  /* 0: no label is ignored, and ignore_index is 0 */
  int reserved2;         /* 0 */
  float label_smoothing; /* from 0 to below 1 */
  float z_loss;          /* finite, not negative */
  float softcap;         /* 0 (off) or from 2^-64 to 2^64 */
  float dloss_scale;     /* finite, of any sign */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_linear_cross_entropy_problem;

TK_API tk_status tk_linear_cross_entropy(tk_linear_cross_entropy_problem const* problem,
                                         void* workspace, size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_LINEAR_CROSS_ENTROPY_H */
