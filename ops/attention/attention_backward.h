/* SPDX-License-Identifier: MIT
 * The C interface of attention_backward; what holds of every call is in tk_base.h. */
#ifndef TK_ATTENTION_BACKWARD_H
#define TK_ATTENTION_BACKWARD_H

#include "ops/attention/attention_forward.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dq, dk, dv: the gradients of a sum of o * dout, o = softmax(scale q k^T + mask) v, from what
 * tk_attention_forward gave for the same q, k, v, mask, scale and options: o and lse.
 *
 * q and dq are [b, nq, hq, d], k and dk [b, nk, hk, d], v and dv [b, nk, hk, dv], o and dout
 * [b, nq, hq, dv], all of one type, bf16 or fp16; lse is fp32 [b, hq, nq]; packed sequences lack b
 * (attention_options.h). All are required. hq is a multiple of hk: query head h reads key head
 * h / (hq / hk), and dk and dv are sums over the query heads of a key head. d and dv are multiples
 * of 8 up to 256 (else TK_UNSUPPORTED). nq and nk may be 0; nq + nk is at most 2^31 - 1025, and the
 * blocks of 16 rows of a head in q and k together 2^29 - 257, of packed sequences with one more for
 * each (else TK_UNSUPPORTED). With p = exp(score - lse), where a score is scale q k^T and what the
 * options make of it, t:
 *   dv = p^T dout, dt = p (dout v^T - sum over dv of o dout), dq = scale ds k, dk = scale ds^T q
 * ds is dt, with a softcap times its slope, 1 - tanh^2. Dropout draws the forward's bytes again: it
 * drops and divides p in dv, and dout v^T in dt. Two more are written where they are given, and
 * then need the option itself:
 *   dbias     dt, summed over b and hq where the bias has a size of 1; of the bias's shape, fp32 or
 *             of its type, at most 2^31 - 1025 tiles of 16 x 16 (else TK_UNSUPPORTED)
 *   dsinks    fp32 [hq]: -exp(sink - lse) times the sum over dv of o dout, summed over b and rows
 *
 * p, ds and all sums are fp32; p and ds are rounded to the tensors' type before the products that
 * take them. The rounding of lse is that of p: 2^-24 |lse|, relatively. A row with lse = -inf,
 * which sees no key, gives dq = 0 and adds nothing to dk and dv. What a result does not depend on
 * does not reach it, not even as NaN, with one exception: under a mask, NaN or infinity in keys and
 * values within 512 after the last one that a row sees may reach its dq, and in queries, o and dout
 * within 512 before the first one that sees a key, its dk and dv (0 times NaN, within the tiles on
 * the mask's edge); under a window also within 512 before the first key, and after the last query.
 * A bias of -inf is no mask: where a row has it for a key, NaN and infinity in k or v of that key
 * may reach the row's dq, and those in the row's q, o and dout the key's dk and dv, at any
 * distance. `repeat`: the bits of a row of dq depend on that row of q, o, lse and dout, on the keys
 * and values that it sees, and on its own alibi, bias and random bytes, with TK_REPEAT_RUN as well
 * (what a GPU's additions in memory flush aside: sums below 2^-126); dk, dv, dbias and dsinks,
 * which sum over rows, repeat from run to run.
 *
 * Workspace: rows are padded to blocks of Q = 64 or 128, as the chip has them for d. A head has
 * R = Q ceil(nq / Q) rows there, at least Q, in each batch; of packed sequences, each of which is
 * padded to a block, R = Q (floor(total_q / Q) + their number) in all. A row of a head takes 8
 * bytes, and up to 4 D more for dq in fp32 where there are several blocks of keys, D the next of
 * 64, 128 and 256 for d and dv; an offset of packed sequences takes 8. There is little beside that.
 */
typedef struct tk_attention_backward_problem {
  size_t size; /* sizeof(tk_attention_backward_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* o;
  DLTensor const* lse;
  DLTensor const* dout;
  DLTensor const* dq;
  DLTensor const* dk;
  DLTensor const* dv;
  tk_mask mask;
  float scale; /* as in the forward, and of a magnitude below 2^126 (else TK_UNSUPPORTED) */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved;                        /* 0 */
  tk_attention_options const* options; /* NULL: none */
  DLTensor const* dbias;               /* may be NULL, as dsinks */
  DLTensor const* dsinks;
} tk_attention_backward_problem;

TK_API tk_status tk_attention_backward(tk_attention_backward_problem const* problem,
                                       void* workspace, size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_ATTENTION_BACKWARD_H */
