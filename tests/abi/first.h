/* SPDX-License-Identifier: MIT
 * The C interface as the first version of the library declared it. Programs were compiled against
 * it: it is never changed. */
#ifndef TK_OPS_H
#define TK_OPS_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#if defined(TK_OPS_STATIC)
#define TK_API
#else
#define TK_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tk_status {
  TK_OK = 0,
  TK_NULL_POINTER = 1,
  TK_BAD_STRUCT = 2,
  TK_BAD_DEVICE = 3,
  TK_BAD_TYPE = 4,
  TK_BAD_RANK = 5,
  TK_BAD_SHAPE = 6,
  TK_BAD_STRIDE = 7,
  TK_BAD_ALIGNMENT = 8,
  TK_BAD_OVERLAP = 9,
  TK_BAD_VALUE = 10,
  TK_SMALL_WORKSPACE = 11,
  TK_UNSUPPORTED = 12,
  TK_WRONG_CHIP = 13,
  TK_RUNTIME_ERROR = 14,
  TK_INTERNAL_ERROR = 15
} tk_status;

typedef enum tk_op { TK_OP_GEMM = 0, TK_OP_ATTENTION_FORWARD = 1, TK_OP_NORM = 2 } tk_op;

typedef enum tk_activation {
  TK_ACTIVATION_NONE = 0,
  TK_ACTIVATION_RELU = 1,
  TK_ACTIVATION_SILU = 2,
  TK_ACTIVATION_GELU_TANH = 3,
  TK_ACTIVATION_GELU_ERF = 4
} tk_activation;

typedef enum tk_bias { TK_BIAS_NONE = 0, TK_BIAS_ROW = 1, TK_BIAS_COLUMN = 2 } tk_bias;

typedef enum tk_mask { TK_MASK_NONE = 0, TK_MASK_CAUSAL = 1 } tk_mask;

typedef enum tk_norm_kind { TK_NORM_LAYER = 0, TK_NORM_RMS = 1 } tk_norm_kind;

typedef struct tk_gemm_problem {
  size_t size;
  DLTensor const* a;
  DLTensor const* b;
  DLTensor const* c;
  DLTensor const* bias;
  DLTensor const* d;
  int transpose_a;
  int transpose_b;
  float alpha;
  float beta;
  tk_bias bias_kind;
  tk_activation activation;
} tk_gemm_problem;

typedef struct tk_attention_forward_problem {
  size_t size;
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* o;
  DLTensor const* lse;
  tk_mask mask;
  float scale;
} tk_attention_forward_problem;

typedef struct tk_norm_problem {
  size_t size;
  DLTensor const* x;
  DLTensor const* residual;
  DLTensor const* weight;
  DLTensor const* bias;
  DLTensor const* y;
  DLTensor const* r;
  tk_norm_kind kind;
  float eps;
} tk_norm_problem;

#define TK_COUNTER_BYTES 4096
TK_API tk_status tk_gemm(tk_gemm_problem const* problem, void* workspace, size_t workspace_bytes,
                         void* stream);
TK_API tk_status tk_attention_forward(tk_attention_forward_problem const* problem, void* workspace,
                                      size_t workspace_bytes, void* stream);

TK_API tk_status tk_norm(tk_norm_problem const* problem, void* workspace, size_t workspace_bytes,
                         void* stream);

TK_API tk_status tk_workspace(tk_op op, void const* problem, size_t* bytes);

TK_API tk_status tk_supports(tk_op op, void const* problem);

TK_API char const* tk_last_error(void);

TK_API char const* tk_status_name(tk_status status);

TK_API char const* tk_version(void);

TK_API int tk_device_type(void);

#ifdef __cplusplus
}
#endif

#endif
