/* SPDX-License-Identifier: MIT
 * The C interface of quantise; what holds of every call is in tk_base.h. */
#ifndef TK_QUANTISE_H
#define TK_QUANTISE_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x to fp8, such that x is y scale, rounded
 *
 * x is [b, h, rows, width], [h, rows, width], [rows, width] or [width], which is one row: bf16,
 * fp16 or fp32. y has the same sizes and is fp8, e4m3fn or e5m2 (by DLPack's codes, tk_base.h).
 * scale is fp32, of the sizes that `kind` says and of any strides; TK_SCALE_128X128 takes x of two
 * dimensions or more. Sizes may be 0; width, and the rows of all matrices together, go to
 * 2^31 - 65537 (else TK_UNSUPPORTED). No tensor may overlap another.
 *
 * In fp32, every operation rounded to nearest even, with `largest` 448 for e4m3fn and 57344 for
 * e5m2:
 *     scale = max(largest |x| of the block, 2^-80) / largest
 *     y     = x (1 / scale), to fp8: to nearest even, and of what is larger the largest number
 * With power_of_two a scale is the least power of two that is not below this one. These bits are
 * the same on every chip, with any number of rows and in any order; so `repeat` makes no
 * difference. A block of zeros, or of nothing, has the scale 2^-80 / largest, and y is 0 (-0 of
 * -0): its product is 0, not NaN. NaN does not count for its block's scale, and is NaN in y.
 * Infinities make the scale of their block infinite; they are NaN in y, and the other numbers of
 * that block 0. What happens in a block does not reach any other.
 *
 * A given scale should be such that 1 / scale is a finite number, not subnormal; y saturates
 * (infinities, too), and is NaN where x is or where 0 meets a scale of 0.
 *
 * Source: OCP 8-bit floating point specification (formats); DeepGEMM (blocks of 1 x 128 and
 * 128 x 128); OCP microscaling formats (power_of_two: E8M0). */
typedef struct tk_quantise_problem {
  size_t size; /* sizeof(tk_quantise_problem) */
  DLTensor const* x;
  DLTensor const* y;
  DLTensor const* scale; /* written; read with TK_SCALE_GIVEN */
  tk_scale_kind kind;
  int power_of_two; /* 1: scales are powers of two, rounded up; not with TK_SCALE_GIVEN */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_quantise_problem;

TK_API tk_status tk_quantise(tk_quantise_problem const* problem, void* workspace,
                             size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_QUANTISE_H */
