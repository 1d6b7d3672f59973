/* SPDX-License-Identifier: MIT
 * The C interface of activation_backward; what holds of every call is in tk_base.h. */
#ifndef TK_ACTIVATION_BACKWARD_H
#define TK_ACTIVATION_BACKWARD_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* da and db: the gradients of a sum of y * dy, y = act(a) b or act(a), from a and b; nothing of the
 * forward is kept:
 *   da = dy b act'(a), db = dy act(a)
 *
 * a, b, dy, da and db are [b, h, rows, width], [h, rows, width], [rows, width] or [width], of one
 * rank, the same sizes and one type: bf16, fp16 or fp32. b may be NULL, which is 1 and has no db;
 * da or db may be NULL: not written. Packed halves are views as in the forward, of gradients too.
 * With `interleaved` 1, x, in which a and b take turns as in the forward, is given as a, and its
 * gradient as da, of x's sizes and with what holds of x's address and strides; b and db are NULL,
 * and dy has x's sizes, but half of the last. da may be x itself, and shares no byte with dy.
 * Sizes may be 0; width, and the rows of all matrices together, go to 2^31 - 65537 (else
 * TK_UNSUPPORTED). da may be a, b or dy itself (same data, shape and strides), and so may db, where
 * da is not.
 *
 * Arithmetic is fp32; da and db are rounded once, and below 2^-126 may be 0. act(a) is as in the
 * forward; act'(a) is off by less than 2^-20, of NONE and RELU by nothing; the slope of RELU at 0
 * is 0. At an infinity they are what they tend to. NaN among those that a result is a product of is
 * NaN, and so is 0 times an infinity; dy b past fp32 is an infinity. `repeat`: an element of da and
 * db depends on those of a, b and dy in its place alone; its bits may differ between problems of
 * different widths or alignment by what is said above, and between rows of one problem do not. */
typedef struct tk_activation_backward_problem {
  size_t size; /* sizeof(tk_activation_backward_problem) */
  DLTensor const* a;
  DLTensor const* b; /* may be NULL */
  DLTensor const* dy;
  DLTensor const* da; /* may be NULL if db is not */
  DLTensor const* db; /* may be NULL; NULL if b is */
  tk_activation_kind kind;
  int reserved_kind; /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved;             /* 0 */
  int interleaved;          /* 0 or 1, as in the forward */
  int reserved_interleaved; /* 0 */
} tk_activation_backward_problem;

TK_API tk_status tk_activation_backward(tk_activation_backward_problem const* problem,
                                        void* workspace, size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_ACTIVATION_BACKWARD_H */
