/* SPDX-License-Identifier: MIT
 * The C interface of cross_entropy; what holds of every call is in tk_base.h. */
#ifndef TK_CROSS_ENTROPY_H
#define TK_CROSS_ENTROPY_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The loss of each row of logits x against its label t, and its gradient:
 *   s    = softcap tanh(x / softcap), or x where softcap is 0
 *   lse  = log sum_j exp(s_j)
 *   loss = lse - (1 - e) s_t - e / vocab sum_j s_j + z_loss lse^2,  e = label_smoothing
 *   dx_j = dloss_scale (p_j (1 + 2 z_loss lse) - (1 - e) [j = t] - e / vocab) c_j
 * with p_j = exp(s_j - lse), and c_j = 1 - (s_j / softcap)^2, or 1 where softcap is 0. dx is the
 * gradient of the sum of all losses, times dloss_scale.
 *
 * x and dx are [b, h, rows, vocab], [h, rows, vocab], [rows, vocab] or [vocab], which is one row,
 * of the same sizes and one type: bf16, fp16 or fp32. labels, int32 or int64, and loss and lse,
 * fp32, have x's sizes without the last (of one row none: a scalar), and any strides, their last
 * dimension too. lse and dx may be NULL: not written. dx may be x itself (same data, shape and
 * strides). vocab goes to 2^24, the rows of all matrices together to 2^31 - 65537 (else
 * TK_UNSUPPORTED). There may be no rows; where there are, vocab 0 is TK_UNSUPPORTED.
 *
 * A row whose label is ignore_index, where has_ignore_index is 1, has loss 0, and dx 0 whatever its
 * x; its lse is as ever. A label outside of 0 to vocab - 1 that is not ignored gives loss NaN and a
 * row of dx of NaN; nothing outside of the tensors is read.
 *
 * Exponentials and sums are fp32, and below 2^-125 may be 0, those of dx before dloss_scale; loss,
 * lse and dx are rounded once. Logits must be below 2^30 in magnitude, infinities aside. A logit of
 * -inf has weight 0 and the gradient of such; as the label's it gives loss inf, and so it does
 * anywhere under label_smoothing. A row of -inf alone has lse -inf, and NaN in loss and dx. NaN or
 * +inf gives NaN in the row's loss and in all of its dx, and nothing in other rows. With a softcap,
 * infinities are +-softcap. `repeat`: the bits of a row of loss, lse and dx depend on that row of x
 * and its label, with TK_REPEAT_RUN as well, but there also on whether dx is given; this holds
 * between problems in which every row of every tensor begins and ends at a multiple of 16 bytes,
 * and between others in which that row of x has the same address modulo 16. */
typedef struct tk_cross_entropy_problem {
  size_t size; /* sizeof(tk_cross_entropy_problem) */
  DLTensor const* x;
  DLTensor const* labels;
  DLTensor const* loss;
  DLTensor const* lse; /* may be NULL */
  DLTensor const* dx;  /* may be NULL */
  int64_t ignore_index;
  int has_ignore_index;  /* 0: no label is ignored, and ignore_index is 0 */
  int reserved2;         /* 0 */
  float label_smoothing; /* from 0 to below 1 */
  float z_loss;          /* finite, not negative */
  float softcap;         /* 0 (off) or from 2^-64 to 2^64 */
  float dloss_scale;     /* finite, of any sign */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_cross_entropy_problem;

TK_API tk_status tk_cross_entropy(tk_cross_entropy_problem const* problem, void* workspace,
                                  size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_CROSS_ENTROPY_H */
