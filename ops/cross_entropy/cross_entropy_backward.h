/* SPDX-License-Identifier: MIT
 * The C interface of cross_entropy_backward; what holds of every call is in tk_base.h. */
#ifndef TK_CROSS_ENTROPY_BACKWARD_H
#define TK_CROSS_ENTROPY_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dx: the gradient of a sum of loss * dloss, from the logits x and the labels t of
 * tk_cross_entropy, its lse and its options:
 *   dx_j = dloss (p_j (1 + 2 z_loss lse) - (1 - e) [j = t] - e / vocab) c_j,  e = label_smoothing
 * with s = softcap tanh(x / softcap), p_j = exp(s_j - lse), c_j = 1 - (s_j / softcap)^2; where
 * softcap is 0, s = x and c_j = 1.
 *
 * x and dx are [b, h, rows, vocab], [h, rows, vocab], [rows, vocab] or [vocab], which is one row,
 * of the same sizes and one type: bf16, fp16 or fp32. labels, int32 or int64, and lse and dloss,
 * fp32, have x's sizes without the last (of one row none: a scalar), and any strides, their last
 * dimension too: a dloss that is the same for all rows may have strides of 0. dx may be x itself
 * (same data, shape and strides). Limits of sizes are those of tk_cross_entropy.
 *
 * A row whose label is ignored has dx 0, whatever its x, lse and dloss. A label outside of 0 to
 * vocab - 1 that is not ignored gives a row of dx of NaN. Exponentials and products are fp32, and
 * below 2^-125 may be 0, before dloss, too; dx is rounded once. Logits must be below 2^30 in
 * magnitude, infinities aside. NaN in lse or dloss gives NaN in all of its row's dx, +inf in dloss
 * NaN or infinities; NaN and infinities in x go where the formula says, and nowhere but into their
 * row. `repeat`: the bits of a row of dx depend on that row of x, its label, lse and dloss, with
 * TK_REPEAT_RUN as well; this holds between problems in which every row of every tensor begins and
 * ends at a multiple of 16 bytes, and between others in which that row of x has the same address
 * modulo 16. */
typedef struct tk_cross_entropy_backward_problem {
  size_t size; /* sizeof(tk_cross_entropy_backward_problem) */
  DLTensor const* x;
  DLTensor const* labels;
  DLTensor const* lse;
  DLTensor const* dloss;
  DLTensor const* dx;
  int64_t ignore_index;
  int has_ignore_index;  /* 0: no label is ignored, and ignore_index is 0 */
  float label_smoothing; /* from 0 to below 1 */
  float z_loss;          /* finite, not negative */
  float softcap;         /* 0 (off) or from 2^-64 to 2^64 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_cross_entropy_backward_problem;

TK_API tk_status tk_cross_entropy_backward(tk_cross_entropy_backward_problem const* problem,
                                           void* workspace, size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_CROSS_ENTROPY_BACKWARD_H */
