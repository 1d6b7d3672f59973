/* SPDX-License-Identifier: MIT
 * The C interface of add, which is scale and cast, too; what holds of every call is in tk_base.h.
 */
#ifndef TK_ADD_H
#define TK_ADD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* y = alpha a + beta b, element by element; with beta 0, y = alpha a, and with alpha 1 besides, a
 * in y's type
 *
 * a, b and y are [b, h, rows, width], [h, rows, width], [rows, width] or [width], of one rank. y
 * has a's sizes; so has b, but each of its sizes but the last may be 1, which stands for all of
 * a's. a is bf16, fp16 or fp32, and y any of these; b has y's type. b may be NULL if beta is 0; it
 * is not looked at then. Sizes may be 0; width, and the rows of all matrices together, go to 2^31 -
 * 65537 (else TK_UNSUPPORTED). y may be a itself where it has a's type, or b itself (same data,
 * shape and strides).
 *
 * alpha a and beta b are each rounded to fp32, and so is their sum, which is rounded to y once more
 * where y is narrower; all of these to nearest even, subnormals kept, overflow to infinity. alpha
 * and beta may be any number: where alpha is 0, a is still multiplied by it, so that NaN and
 * infinities of a give NaN. alpha 1 and beta 0 give a exactly wherever y's type holds it: zeros
 * keep their sign, infinities stay and NaN stays NaN, of which neither sign nor payload is kept.
 * `repeat`: an element depends on those of a and b in its place, on alpha and on beta alone, with
 * TK_REPEAT_RUN as well, so that both are the same. */
typedef struct tk_add_problem {
  size_t size; /* sizeof(tk_add_problem) */
  DLTensor const* a;
  DLTensor const* b; /* may be NULL if beta is 0 */
  DLTensor const* y;
  float alpha;
  float beta;
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_add_problem;

TK_API tk_status tk_add(tk_add_problem const* problem, void* workspace, size_t workspace_bytes,
                        void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_ADD_H */
