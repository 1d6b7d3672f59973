/* SPDX-License-Identifier: MIT
 * The C interface of norm_backward; what holds of every call is in tk_base.h. */
#ifndef TK_NORM_BACKWARD_H
#define TK_NORM_BACKWARD_H

#include "ops/norm/norm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dx, dweight and dbias: the gradients of a sum of y * dy + r * dr, y = norm(r) weight + bias, from
 * what tk_norm gave as r (from its x, where it had no residual), with the same weight, kind and
 * eps. With h = (r - mean r) scale, scale = 1 / sqrt(var r + eps), and g = dy weight, row by row:
 *   dx = dr + scale (g - mean g - h mean(g h))
 *   dweight = sum over rows of dy h, dbias = sum over rows of dy
 * Of TK_NORM_RMS, h = r scale, scale = 1 / sqrt(mean r^2 + eps), and dx lacks mean g. dx is the
 * gradient of r, and so of tk_norm's x and of its residual.
 *
 * r, dy, dr and dx are [b, h, rows, width], [h, rows, width], [rows, width] or [width], which is
 * one row, of one rank, the same sizes and one type: bf16, fp16 or fp32. weight, dweight and dbias
 * are [width], contiguous, each of r's type or fp32, dweight and dbias of one type. weight, dr,
 * dweight and dbias may be NULL: 1, 0, and not written. Sizes may be 0, and without rows dweight
 * and dbias are 0; width, and the rows of all matrices together, go to 2^31 - 65537 (else
 * TK_UNSUPPORTED). dx may be r, dy or dr itself (same data, shape and strides).
 *
 * mean, var and all else are fp32, of r as it is stored; each result is rounded once. The variance
 * is that of differences from the mean. NaN in a row of r or dy gives NaN in that row of dx; from r
 * it reaches all of dweight, from dy its column of dweight and dbias, from dr its element of dx.
 * Infinities give NaN in these places, or stay such; of TK_NORM_RMS, one in r reaches only its
 * column of dweight. A row whose variance and eps are both 0 counts as one of NaN. The sum of
 * squares of a row must be below 2^128 (larger: 0 or NaN), and variance + eps counts as 0 below
 * 2^-126. `repeat`: the bits of a row of dx depend on that row of r, dy and dr, and on weight,
 * with TK_REPEAT_RUN as well; this holds between problems in which every row of every tensor
 * begins and ends at a multiple of 16 bytes, and between all others. dweight and dbias, which sum
 * over rows, have equal bits from run to run alone, with either. */
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
} tk_norm_backward_problem;

TK_API tk_status tk_norm_backward(tk_norm_backward_problem const* problem, void* workspace,
                                  size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_NORM_BACKWARD_H */
