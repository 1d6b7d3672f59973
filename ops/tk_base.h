/* SPDX-License-Identifier: MIT
 * What the ops of the C interface have in common: statuses, errors, and what holds of every call.
 *
 * A problem is a struct that begins with its size. A library takes those of earlier headers, whose
 * missing fields count as 0, and those of later ones if what it does not know is 0; 0 is every
 * option's "off". Fields are only ever appended, nothing is padding, and reserved fields are 0.
 *
 * Tensors are DLTensors (DLPack) that describe memory of the library's chip: kDLCUDA, kDLROCM, or
 * kDLCPU for the host and emulated libraries. Sizes and strides count elements; a NULL `strides`
 * means row-major. The last dimension must have stride 1 unless its size is at most 1; the others
 * may be anything, also negative, as long as no two elements of an output share an address and an
 * output shares none with an input. That is decided by element, not by range: outputs may be slices
 * of the buffer that holds the inputs. (It takes a bounded search; strides too intricate for it,
 * which no slicing makes, are refused.) An element must be aligned to its own size, no more. The
 * stride of a dimension of size 1 is ignored; where a tensor has no element, so are all strides,
 * and data may be NULL. Sizes go to 2^31 - 1025 where an op says no less.
 *
 * Every call checks its whole problem before it launches anything: on failure it returns a status,
 * tk_last_error() holds a sentence that names the argument, its value and the limit, and nothing
 * has been written. Calls launch on `stream` and return; they allocate no device memory, never
 * synchronise, and keep no state between calls, so that they may come from many threads and be
 * captured in a graph. Results are the same bit for bit from run to run. A process that has made
 * calls should not fork and call on in the child: the host library refuses it where it had threads.
 */
#ifndef TK_BASE_H
#define TK_BASE_H

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#if defined(TK_OPS_STATIC)
#define TK_API
#else
#define TK_API __attribute__((visibility("default")))
#endif

/* DLPack's type codes of bool (1.0) and of the fp8 types that TK knows (1.1), by number, since
 * DLPack's installed header may be older. An op that takes them says so. */
#define TK_DL_BOOL 6
#define TK_DL_FLOAT8_E4M3FN 10
#define TK_DL_FLOAT8_E5M2 12

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tk_status {
  TK_OK = 0,
  TK_NULL_POINTER = 1, /* an argument that must be given is NULL */
  TK_BAD_STRUCT = 2,   /* a problem's `size`, or a reserved field, is not what this library knows */
  TK_BAD_DEVICE = 3,   /* a tensor lies on another device, or on another kind of device */
  TK_BAD_TYPE = 4,     /* an element type the op does not take */
  TK_BAD_RANK = 5,     /* a number of dimensions the op does not take */
  TK_BAD_SHAPE = 6,    /* sizes that don't fit together, or a size past a limit */
  TK_BAD_STRIDE = 7,   /* a last dimension that is not contiguous, or strides past 64 bits */
  TK_BAD_ALIGNMENT = 8,    /* data not aligned to its element */
  TK_BAD_OVERLAP = 9,      /* an output that overlaps an input, another output, or itself */
  TK_BAD_VALUE = 10,       /* a number or an enumerator out of range */
  TK_SMALL_WORKSPACE = 11, /* less workspace than tk_workspace() says */
  TK_UNSUPPORTED = 12,     /* a correct problem that this library cannot do */
  TK_WRONG_CHIP = 13,      /* no device, or not the chip the library was built for */
  TK_RUNTIME_ERROR = 14,   /* the device's runtime reported an error */
  TK_INTERNAL_ERROR = 15   /* a fault of the library */
} tk_status;

/* What a problem's results repeat, bit for bit: its field `repeat`. */
typedef enum tk_repeat {
  TK_REPEAT_RUN = 0, /* the same problem, from run to run */
  TK_REPEAT_ROW = 1  /* each row, whatever other rows the problem has: it depends on that row, the
                        weights, the lengths of sums, the options, the chip and the version alone */
} tk_repeat;

/* Which columns of a matrix of scores its rows see: a field `mask`. */
typedef enum tk_mask {
  TK_MASK_NONE = 0,
  TK_MASK_CAUSAL = 1 /* row i of `rows` sees column j of `width` where j <= i + width - rows:
                        aligned to the last column; of attention, query i of nq and key j of nk */
} tk_mask;

/* Which elements of x[..., m, n] have one scale in fp8, and the sizes of the scales. */
typedef enum tk_scale_kind {
  TK_SCALE_ROW = 0,     /* each row: x's sizes without the last; where x is [n], of no dimension */
  TK_SCALE_1X128 = 1,   /* 128 columns of a row, the last ones fewer: [..., m, ceil(n / 128)] */
  TK_SCALE_128X128 = 2, /* a square of both dimensions: [..., ceil(m / 128), ceil(n / 128)] */
  TK_SCALE_TENSOR = 3,  /* all of x: [1] or of no dimension */
  TK_SCALE_GIVEN = 4    /* the same, and scale is not written but read */
} tk_scale_kind;

/* Functions of one number, act(x). */
typedef enum tk_activation_kind {
  TK_ACTIVATION_NONE = 0, /* x */
  TK_ACTIVATION_RELU = 1,
  TK_ACTIVATION_SILU = 2,      /* x / (1 + e^-x) */
  TK_ACTIVATION_GELU_TANH = 3, /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
  TK_ACTIVATION_GELU_ERF = 4,  /* x/2 (1 + erf(x / sqrt 2)) */
  TK_ACTIVATION_SIGMOID = 5    /* 1 / (1 + e^-x) */
} tk_activation_kind;

/* `workspace` of a call is device memory of at least tk_workspace() bytes, aligned to 16; NULL will
 * do where that is 0. Its first TK_COUNTER_BYTES bytes hold counters: they must be zero before the
 * first use, and every launch leaves them zero. The rest may hold anything. One workspace serves
 * any series of problems, but launches that may overlap must not share it. */
#define TK_COUNTER_BYTES 4096

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

#endif /* TK_BASE_H */
