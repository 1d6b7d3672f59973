/* SPDX-License-Identifier: MIT
 * The C interface of activation; what holds of every call is in tk_base.h. */
#ifndef TK_ACTIVATION_H
#define TK_ACTIVATION_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = act(a) b, element by element; y = act(a) where b is NULL
 *
 * With b: SwiGLU (TK_ACTIVATION_SILU), GeGLU (either GELU), ReGLU, GLU (TK_ACTIVATION_SIGMOID) and,
 * with TK_ACTIVATION_NONE, the bilinear unit. a and b packed in one tensor x[..., 2 w] are two
 * views of it, x[..., :w] and x[..., w:], both with x's strides of rows.
 *
 * With `interleaved` 1, a and b take turns in one tensor x[..., 2 width], as x[..., 0::2] and
 * x[..., 1::2]. x is given as a, and b is NULL; y has x's sizes, but half of the last. The type is
 * bf16 or fp16; x's data is aligned to 4 bytes and its strides but the last are even, so that pairs
 * (a, b) are moved as one (else TK_BAD_ALIGNMENT, TK_BAD_STRIDE). y shares no byte with x. The
 * limit of width is that of x's. All else is as if a and b were apart.
 *
 * a, b and y are [b, h, rows, width], [h, rows, width], [rows, width] or [width], of one rank, the
 * same sizes and one type: bf16, fp16 or fp32. Sizes may be 0; width, and the rows of all matrices
 * together, go to 2^31 - 65537 (else TK_UNSUPPORTED). y may be a or b itself (same data, shape and
 * strides).
 *
 * Arithmetic is fp32; y is rounded once, and below 2^-126 it may be 0. act(a) is off by less than
 * 2^-20 |a|, of TK_ACTIVATION_SIGMOID by less than 2^-20, of NONE and RELU by nothing; at an
 * infinity it is what it tends to. NaN in a or b is NaN in y, and so is 0 times an infinity.
 * `repeat`: an element of y depends on those of a and b in its place alone; its bits may differ
 * between problems of different widths or alignment by what is said above, and between rows of one
 * problem do not. */
typedef struct tk_activation_problem {
  size_t size; /* sizeof(tk_activation_problem) */
  DLTensor const* a;
  DLTensor const* b; /* may be NULL */
  DLTensor const* y;
  tk_activation_kind kind;
  int reserved_kind; /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved;             /* 0 */
  int interleaved;          /* 0, or 1: a and b take turns in one tensor */
  int reserved_interleaved; /* 0 */
} tk_activation_problem;

TK_API tk_status tk_activation(tk_activation_problem const* problem, void* workspace,
                               size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_ACTIVATION_H */
