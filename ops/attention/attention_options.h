/* SPDX-License-Identifier: MIT
 * The options of attention, the same for all of its ops; what holds of every struct is in
 * tk_base.h. */
#ifndef TK_ATTENTION_OPTIONS_H
#define TK_ATTENTION_OPTIONS_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is done to a score t = scale q k of query i and key j, in this order; a = i + nk - nq is the
 * key that stands opposite query i, as in the causal mask:
 *   t = softcap tanh(t / softcap)     softcap is 0 (off) or from 2^-64 to 2^64
 *   t = t - alibi[h] |a - j|          alibi is fp32 [hq] or [b, hq]
 *   t = t + bias[b, h, i, j]          [b or 1, hq or 1, nq, nk], fp32 or the type of q; -inf hides
 *                                     a key, but not NaN or infinity in its k or v
 *   unseen unless a - window_left <= j <= a + window_right: each where its switch is 1; sizes from
 *                                     0 up; the causal mask is a window_right of 0
 * and to the row's softmax:
 *   sinks     fp32 [hq]: exp(sinks[h]) is added to the sum, and to no output. lse holds it: a row
 *             that sees no key has o = 0 and lse = sinks[h].
 *   dropout   a probability p, 0 (off) to 255/256: each weight is dropped where its random byte is
 *             below round(256 p), and else divided by 1 - round(256 p) / 256. lse is without it.
 *             The bytes follow from seed, offset, batch, query head, i and j alone
 *             (core/random.hpp). random_state, 64-bit integers [2] on the device, is read in place
 *             of the fields seed and offset, so that a captured graph draws anew.
 *
 * Packed sequences, where q_starts and k_starts are given, int32 [b + 1] on the device: q is
 * [total_q, hq, d], o [total_q, hq, dv], k [total_k, hk, d], v [total_k, hk, dv], lse [hq,
 * total_q]; sequence s has the rows from q_starts[s] up to q_starts[s + 1], and the keys likewise;
 * i, j, nq and nk are its own. max_nq and max_nk bound the lengths (0: not said): of a longer
 * sequence the rest is left out; a bias is [b or 1, hq or 1, max_nq, max_nk], of total_q in place
 * of a max_nq of 0, and total_k of a max_nk of 0. Rows of no sequence are not written. A sequence's
 * results have the bits that they have where it is the only one of a packed call, with the same
 * random bytes; a call without offsets may cut it into other tiles, and round otherwise. Offsets
 * that fall, or lie outside of 0 to total, give sequences of other rows, of which some may be
 * written twice or never: nothing outside a tensor is read or written.
 *
 * `repeat`: what a row depends on gains its own alibi, bias, sink and random bytes. NaN in what a
 * row does not see stays away from it as the op says; another sequence's rows never reach it. */
typedef struct tk_attention_options {
  size_t size; /* sizeof(tk_attention_options) */
  int has_window_left;
  int window_left;
  int has_window_right;
  int window_right;
  float softcap;
  float dropout;
  DLTensor const* alibi; /* may be NULL, as all that follow */
  DLTensor const* bias;
  DLTensor const* sinks;
  DLTensor const* q_starts; /* with k_starts */
  DLTensor const* k_starts;
  int64_t max_nq;
  int64_t max_nk;
  uint64_t seed;
  uint64_t offset;
  DLTensor const* random_state;
  /* the first version ended here */
} tk_attention_options;

#ifdef __cplusplus
}
#endif

#endif /* TK_ATTENTION_OPTIONS_H */
