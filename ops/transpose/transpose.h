/* SPDX-License-Identifier: MIT
 * The C interface of transpose; what holds of every call is in tk_base.h. */
#ifndef TK_TRANSPOSE_H
#define TK_TRANSPOSE_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y[..., j, i] = x[..., i, j]: matrices are transposed, bit for bit
 *
 * x is [b, h, n, m], [h, n, m] or [n, m], and y of its rank and type, with the last two sizes
 * exchanged: [b, h, m, n], [h, m, n] or [m, n]. Elements are bf16, fp16, fp32, fp8 e4m3, fp8 e5m2
 * or int32; their bits are copied, those of NaN, too. The last dimension of both is contiguous; any
 * strides of the others. Sizes may be 0; b h ceil(n / 32) ceil(m / 32) goes to 2^31 - 65537 (else
 * TK_UNSUPPORTED). y shares no element with x: there is no transposition in place. No workspace is
 * wanted. `repeat`: both are the same. */
typedef struct tk_transpose_problem {
  size_t size; /* sizeof(tk_transpose_problem) */
  DLTensor const* x;
  DLTensor const* y;
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_transpose_problem;

TK_API tk_status tk_transpose(tk_transpose_problem const* problem, void* workspace,
                              size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_TRANSPOSE_H */
