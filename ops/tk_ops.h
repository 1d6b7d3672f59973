/* SPDX-License-Identifier: MIT
 * The C interface of libtk_ops: GEMM, attention, norms on the chip the library was built for.
 *
 * Tensors are DLTensors (DLPack) that describe memory of that chip: kDLCUDA, kDLROCM, or kDLCPU for
 * the host and emulated libraries. Sizes and strides count elements; a NULL `strides` means
 * row-major. The last dimension must have stride 1 unless its size is at most 1; the others may be
 * anything, also negative, as long as no two elements of an output share an address and an output
 * shares none with an input. That is decided by element, not by range: outputs may be slices of the
 * buffer that holds the inputs. (It takes a bounded search; strides too intricate for it, which no
 * slicing makes, are refused.) An element must be aligned to its own size, no more. The stride of a
 * dimension of size 1 is ignored; data may be NULL where a tensor has no element. Sizes go to
 * 2^31 - 1025 where an op says no less.
 *
 * Every call checks its whole problem before it launches anything: on failure it returns a status,
 * tk_last_error() holds a sentence that names the argument, its value and the limit, and nothing
 * has been written. Calls launch on `stream` and return; they allocate no device memory, never
 * synchronise, and keep no state between calls, so that they may come from many threads and be
 * captured in a graph. Results are the same bit for bit from run to run. A process that has made
 * calls should not fork and call on in the child. */
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
  TK_NULL_POINTER = 1,     /* an argument that must be given is NULL */
  TK_BAD_STRUCT = 2,       /* a problem's `size` is not one this library knows */
  TK_BAD_DEVICE = 3,       /* a tensor lies on another device, or on another kind of device */
  TK_BAD_TYPE = 4,         /* an element type the op does not take */
  TK_BAD_RANK = 5,         /* a number of dimensions the op does not take */
  TK_BAD_SHAPE = 6,        /* sizes that don't fit together, or a size past a limit */
  TK_BAD_STRIDE = 7,       /* a last dimension that is not contiguous, or strides past 64 bits */
  TK_BAD_ALIGNMENT = 8,    /* data not aligned to its element */
  TK_BAD_OVERLAP = 9,      /* an output that overlaps an input, another output, or itself */
  TK_BAD_VALUE = 10,       /* a number or an enumerator out of range */
  TK_SMALL_WORKSPACE = 11, /* less workspace than tk_workspace() says */
  TK_UNSUPPORTED = 12,     /* a correct problem that this library cannot do */
  TK_WRONG_CHIP = 13,      /* no device, or not the chip the library was built for */
  TK_RUNTIME_ERROR = 14,   /* the device's runtime reported an error */
  TK_INTERNAL_ERROR = 15   /* a fault of the library */
} tk_status;

typedef enum tk_op { TK_OP_GEMM = 0, TK_OP_ATTENTION_FORWARD = 1, TK_OP_NORM = 2 } tk_op;

typedef enum tk_activation {
  TK_ACTIVATION_NONE = 0,
  TK_ACTIVATION_RELU = 1,
  TK_ACTIVATION_SILU = 2,
  TK_ACTIVATION_GELU_TANH = 3, /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
  TK_ACTIVATION_GELU_ERF = 4   /* x/2 (1 + erf(x / sqrt 2)) */
} tk_activation;

typedef enum tk_bias {
  TK_BIAS_NONE = 0,
  TK_BIAS_ROW = 1,   /* bias[n]: one value for each column, the bias of a linear layer */
  TK_BIAS_COLUMN = 2 /* bias[m]: one value for each row */
} tk_bias;

typedef enum tk_mask {
  TK_MASK_NONE = 0,
  TK_MASK_CAUSAL = 1 /* query i sees key j where j <= i + nk - nq: aligned to the last key */
} tk_mask;

typedef enum tk_norm_kind {
  TK_NORM_LAYER = 0, /* y = (r - mean r) / sqrt(var r + eps) weight + bias; var divides by width */
  TK_NORM_RMS = 1    /* y = r / sqrt(mean r^2 + eps) weight + bias */
} tk_norm_kind;

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
 * TK_UNSUPPORTED). */
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
  tk_activation activation;
} tk_gemm_problem;

/* o = softmax(scale q k^T + mask) v, and lse[b, hq, nq] = ln sum exp(scale q k^T + mask)
 *
 * q is [b, nq, hq, d], k is [b, nk, hk, d], v is [b, nk, hk, dv], o is [b, nq, hq, dv], all of one
 * type, bf16 or fp16; lse is fp32 and may be NULL. hq is a multiple of hk: query head h reads key
 * head h / (hq / hk). d and dv are multiples of 8 up to 256 (else TK_UNSUPPORTED). nq and nk may
 * be 0; nq + nk, and the blocks of 16 rows of a head in q, are at most 2^31 - 1025 (else
 * TK_UNSUPPORTED). A row that sees no key gives o = 0 and lse = -inf. Scores, maximum and sums are
 * fp32; a row with scores past 2^27, whose rounding exp magnifies, may be wrong or NaN. */
typedef struct tk_attention_forward_problem {
  size_t size; /* sizeof(tk_attention_forward_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* o;
  DLTensor const* lse; /* may be NULL */
  tk_mask mask;
  float scale; /* finite; 1 / sqrt(d) is usual */
} tk_attention_forward_problem;

/* r = x + residual; y is r normalised row by row (LayerNorm or RMSNorm), times weight, plus bias
 *
 * x, residual, y and r are [rows, width], or [width] for one row, of one type: bf16, fp16 or fp32.
 * weight and bias are [width], contiguous, of x's type or fp32, both of one type. residual, weight,
 * bias and r may be NULL: 0, 1, 0, and not written. Sizes may be 0, and go to 2^31 - 65537 (else
 * TK_UNSUPPORTED). The mean and the variance are taken in fp32 of the sum x + residual before it is
 * rounded to r's type, and y from that sum as well; y and r are rounded once. The variance is that
 * of differences from the mean, so that a large mean does not cost it digits. A row whose variance
 * and eps are both 0 gives NaN. The sum of squares must be below 2^128 (larger: 0 or NaN), and
 * variance + eps counts as 0 below 2^-126. y and r may be x or residual themselves (same data,
 * shape and strides). */
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
} tk_norm_problem;

/* `workspace` is device memory of at least tk_workspace() bytes, aligned to 16; NULL will do where
 * that is 0. Its first TK_COUNTER_BYTES bytes hold counters: they must be zero before the first
 * use, and every launch leaves them zero. The rest may hold anything. One workspace serves any
 * series of problems, but launches that may overlap must not share it. */
#define TK_COUNTER_BYTES 4096
TK_API tk_status tk_gemm(tk_gemm_problem const* problem, void* workspace, size_t workspace_bytes,
                         void* stream);
TK_API tk_status tk_attention_forward(tk_attention_forward_problem const* problem, void* workspace,
                                      size_t workspace_bytes, void* stream);

TK_API tk_status tk_norm(tk_norm_problem const* problem, void* workspace, size_t workspace_bytes,
                         void* stream);

/* Bytes of workspace that the problem needs; the problem is checked as a launch would check it. */
TK_API tk_status tk_workspace(tk_op op, void const* problem, size_t* bytes);

/* TK_OK if a launch would be accepted, else the status and (tk_last_error) the reason. `data`
 * pointers are not looked at and may be NULL. */
TK_API tk_status tk_supports(tk_op op, void const* problem);

/* The sentence of this thread's last failed call; "" if none has failed. Valid until the next call
 * on this thread. */
TK_API char const* tk_last_error(void);

/* The status's name, "TK_BAD_SHAPE" for instance. */
TK_API char const* tk_status_name(tk_status status);

/* "0.1.0 host 1a2b3c4": the version, the chip the library was built for, "emulated" if so, and last
 * the commit it was built from, as git describes it, or "unknown". */
TK_API char const* tk_version(void);

/* The kind of device whose memory the library takes: a DLDeviceType. */
TK_API int tk_device_type(void);

#ifdef __cplusplus
}
#endif

#endif /* TK_OPS_H */
