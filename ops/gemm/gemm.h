/* SPDX-License-Identifier: MIT
 * The C interface of gemm; what holds of every call is in tk_base.h. */
#ifndef TK_GEMM_H
#define TK_GEMM_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tk_bias {
  TK_BIAS_NONE = 0,
  TK_BIAS_ROW = 1,   /* bias[n]: one value for each column, the bias of a linear layer */
  TK_BIAS_COLUMN = 2 /* bias[m]: one value for each row */
} tk_bias;

/* d = activation(alpha op(a) op(b) + beta c + bias)
 *
 * a is [m, k], or [k, m] with transpose_a; b is [k, n], or [n, k] with transpose_b; c and d are
 * [m, n]. All may have one leading batch dimension; where d has one, an operand without it, or with
 * size 1, is the same for every batch. a and b share one type, bf16 or fp16; d is bf16, fp16 or
 * fp32; c has d's type; bias is fp32 or has d's type, is contiguous, and is the same for every
 * batch. Sums are fp32, in an order that only the sizes and the device decide, and are rounded
 * once. c may be NULL if beta is 0; it is not looked at then. c may be d itself (same data, shape
 * and strides). k = 0 gives activation(beta c + bias); where alpha is 0 and k is not, a b is still
 * multiplied by it. Any size may be 0; d has at most 2^31 - 1025 tiles of 64 x 64 elements (else
 * TK_UNSUPPORTED). `repeat`: with TK_REPEAT_ROW the bits of a row of d do not depend on m, on the
 * other rows or on the batch; sums are then never cut along k, which costs most where few rows
 * meet a long k. */
typedef struct tk_gemm_problem {
  size_t size; /* sizeof(tk_gemm_problem) */
  DLTensor const* a;
  DLTensor const* b;
  DLTensor const* c;    /* may be NULL */
  DLTensor const* bias; /* NULL if and only if bias_kind is TK_BIAS_NONE */
  DLTensor const* d;
  int transpose_a; /* 0 or 1 */
  int transpose_b; /* 0 or 1 */
  float alpha;
  float beta;
  tk_bias bias_kind;
  tk_activation_kind activation; /* not TK_ACTIVATION_SIGMOID */
  /* the first version ended here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_gemm_problem;

TK_API tk_status tk_gemm(tk_gemm_problem const* problem, void* workspace, size_t workspace_bytes,
                         void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_GEMM_H */
