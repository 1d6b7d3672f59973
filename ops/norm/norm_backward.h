/* SPDX-License-Identifier: MIT
 * The C interface of norm_backward; what holds of every call is in tk_base.h. */
#ifndef TK_NORM_BACKWARD_H
#define TK_NORM_BACKWARD_H

#include "ops/norm/norm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dx, dresidual, dweight and dbias: the gradients of a sum of y * dy + r * dr, y = norm(r) weight +
 * bias, from what tk_norm gave as r (from its x, where it had no residual and no dropout), with the
 * same weight, kind and eps. With h = (r - mean r) scale, scale = 1 / sqrt(var r + eps), and
 * g = dy weight, row by row:
 *   dresidual = dr + scale (g - mean g - h mean(g h))
 *   dx        = dresidual, where dropout is on mask o dresidual / (1 - p)
 *   dweight   = sum over rows of dy h, dbias = sum over rows of dy
 * Of TK_NORM_RMS, h = r scale, scale = 1 / sqrt(mean r^2 + eps), and dresidual lacks mean g.
 * dresidual is the gradient of r, and so of tk_norm's residual, dx that of its x.
 *
 * r, dy, dr, dx and dresidual are [b, h, rows, width], [h, rows, width], [rows, width] or [width],
 * which is one row, of one rank and the same sizes; dy and dx of one type, bf16, fp16 or fp32, r,
 * dr and dresidual all of dy's type or all fp32. weight, dweight and dbias are [width], contiguous,
 * each of dy's type or fp32, dweight and dbias of one type. weight, dr, dresidual, dweight and
 * dbias may be NULL: 1, 0, and not written; but dresidual not where dropout drops any, since dx is
 * another then. Sizes may be 0, and without rows dweight and dbias are 0; width, and the rows of
 * all matrices together, go to 2^31 - 65537 (else TK_UNSUPPORTED). dx and dresidual may be r, dy or
 * dr themselves (same data, shape, strides and type), not each other.
 *
 * dropout, seed, offset and random_state are those that tk_norm was given (norm.h); its bytes are
 * drawn again, rows counted through all matrices.
 *
 * mean, var and all else are fp32, of r as it is stored; each result is rounded once. The variance
 * is that of differences from the mean. NaN in a row of r or dy gives NaN in that row of dx and
 * dresidual, but where dropped; from r it reaches all of dweight, from dy its column of dweight and
 * dbias, from dr its element of dx and dresidual. Infinities give NaN in these places, or stay
 * such; of TK_NORM_RMS, one in r reaches only its column of dweight. A row whose variance and eps
 * are both 0 counts as one of NaN. The sum of squares of a row must be below 2^128 (larger: 0 or
 * NaN), and variance + eps counts as 0 below 2^-126. `repeat`: the bits of a row of dx and
 * dresidual depend on that row of r, dy and dr, on weight, and with dropout on its number, with
 * TK_REPEAT_RUN as well; this holds between problems in which every row of every tensor begins and
 * ends at a multiple of 16 bytes, and between all others; and between such with dresidual, between
 * such without, and of the same types. dweight and dbias, which sum over rows, have equal bits from
 * run to run alone, with either. */
typedef struct tk_norm_backward_problem {
  size_t size; /* sizeof(tk_norm_backward_problem) */
  DLTensor const* r;
  DLTensor const* dy;
  DLTensor const* weight; /* may be NULL */
  DLTensor const* dr;     /* may be NULL */
  DLTensor const* dx;
  DLTensor const* dweight; /* may be NULL */
  DLTensor const* dbias;   /* may be NULL */
  tk_norm_kind kind;
  float eps; /* finite, not negative */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
  /* later fields; 0 is off */
  DLTensor const* dresidual; /* may be NULL without dropout */
  float dropout;
  int reserved2; /* 0 */
  uint64_t seed;
  uint64_t offset;
  DLTensor const* random_state; /* may be NULL */
} tk_norm_backward_problem;

TK_API tk_status tk_norm_backward(tk_norm_backward_problem const* problem, void* workspace,
                                  size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_NORM_BACKWARD_H */
