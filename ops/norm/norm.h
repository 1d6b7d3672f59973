/* SPDX-License-Identifier: MIT
 * The C interface of norm; what holds of every call is in tk_base.h. */
#ifndef TK_NORM_H
#define TK_NORM_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tk_norm_kind {
  TK_NORM_LAYER = 0, /* y = (r - mean r) / sqrt(var r + eps) weight + bias; var divides by width */
  TK_NORM_RMS = 1    /* y = r / sqrt(mean r^2 + eps) weight + bias */
} tk_norm_kind;

/* r = residual + x, where dropout is on residual + mask o x / (1 - p); y is r normalised row by row
 * (LayerNorm or RMSNorm), times weight, plus bias
 *
 * x, residual, y and r are [b, h, rows, width], [h, rows, width], [rows, width] or [width], which
 * is one row, of the same sizes (those left out count as 1), the last dimension contiguous, others
 * of any strides; x and y of one type, bf16, fp16 or fp32 (y may be fp8, below), residual and r
 * both of x's type or both fp32. weight and bias are [width], contiguous, of x's type or fp32, both
 * of one type. residual, weight, bias and r may be NULL: 0, 1, 0, and not written. Sizes may be 0;
 * width, and the rows of all matrices together, go to 2^31 - 65537 (else TK_UNSUPPORTED). The mean
 * and the variance are taken in fp32 of r before it is rounded to its type, and y from that sum as
 * well; y and r are rounded once. The variance is that of differences from the mean, so that a
 * large mean does not cost it digits. A row whose variance and eps are both 0 gives NaN. The sum of
 * squares must be below 2^128 (larger: 0 or NaN), and variance + eps counts as 0 below 2^-126. y
 * and r may be x or residual themselves (same data, shape, strides and type).
 *
 *   dropout   a probability p, 0 (off) to 255/256: each element of x is dropped where its random
 *             byte is below round(256 p), and else divided by 1 - round(256 p) / 256. A dropped
 *             element counts as 0, whatever it is. The bytes follow from seed, offset, row and
 *             column alone: byte col % 16 (of four words, the lowest byte first) of Philox4x32-10
 *             with the key (low seed, high seed xor high offset) and the counter (row, col / 16,
 *             2^32 - 1, low offset) (core/random.hpp), rows counted through all matrices.
 *             random_state, 64-bit integers [2] on the device, is read in place of the fields seed
 *             and offset, so that a captured graph draws anew.
 *   y of fp8  e4m3fn or e5m2 (by DLPack's codes, tk_base.h) beside x of bf16 or fp16. In fp32, each
 *             operation rounded to nearest even, with `largest` 448 for e4m3fn and 57344 for e5m2:
 *                 y_scale = max(largest |y| of the row, 2^-80) / largest
 *                 what is written = y (1 / y_scale), to fp8: to nearest even, saturated
 *             y_scale is fp32 and must be there. With TK_SCALE_ROW it is written, of x's sizes but
 *             the last and of any strides (of no dimension where x is [width]); power_of_two rounds
 *             it up to a power of two. With TK_SCALE_GIVEN it is read, [1] or of no dimension;
 *             1 / y_scale should be a finite number, not subnormal. NaN does not count for its
 *             row's scale, and is NaN in y. Rows without columns have scales. y may not be x or
 *             residual then; other kinds of scales, x, residual or r of fp32, and dropout are
 *             refused. Residual and r of fp32 would be one kernel more for each type of x with each
 *             of y: write y in x's type, and give it to tk_quantise, which rounds once more.
 *
 * `repeat`: the bits of a row depend on that row, weight and bias, and with dropout on its number,
 * with TK_REPEAT_RUN as well; this holds between problems in which every row of every tensor begins
 * and ends at a multiple of 16 bytes (8 of fp8), and between others in which that row of x, and of
 * y of fp8, has the same address modulo 16; and between such with dropout, between such without,
 * of the same types, and of which the same tensors are given. */
typedef struct tk_norm_problem {
  size_t size; /* sizeof(tk_norm_problem) */
  DLTensor const* x;
  DLTensor const* residual; /* may be NULL */
  DLTensor const* weight;   /* may be NULL */
  DLTensor const* bias;     /* may be NULL */
  DLTensor const* y;
  DLTensor const* r; /* may be NULL */
  tk_norm_kind kind;
  float eps; /* finite, not negative */
  /* the first version ended here */
  tk_repeat repeat;
  int reserved; /* 0 */
  /* later fields; 0 is off */
  float dropout;
  int reserved2; /* 0 */
  uint64_t seed;
  uint64_t offset;
  DLTensor const* random_state; /* may be NULL */
  DLTensor const* y_scale;      /* where y is fp8, else NULL */
  tk_scale_kind y_scale_kind;   /* TK_SCALE_ROW or TK_SCALE_GIVEN */
  int power_of_two;             /* 1: scales are powers of two, rounded up */
} tk_norm_problem;

TK_API tk_status tk_norm(tk_norm_problem const* problem, void* workspace, size_t workspace_bytes,
                         void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_NORM_H */
