/* SPDX-License-Identifier: MIT
 * The C interface of hedgehog; what holds of every call is in tk_base.h. */
#ifndef TK_HEDGEHOG_H
#define TK_HEDGEHOG_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Hedgehog attention as LoLCATs has it: softmax within a window, linear attention by learned
 * features on the tokens before it, and one normaliser for both (Zhang et al., 2024):
 *   phi(x) = max([softmax(x map), softmax(-x map)], 1e-6), 128 features, with map_q or map_k
 *   p_ij = beta exp(scale (q_i k_j - the largest q_i k_j of the window))    j in i's window
 *   l_ij = alpha phi(q_i) phi(k_j)                                          j before the window
 *   o_i = sum over j of (p_ij + l_ij) v_j / (sum over j of (p_ij + l_ij) + 1e-6)
 * Tokens lie in blocks of 64, counted from the first key; i's window are its own block, up to i,
 * and the block before.
 *
 * q and o are [b, nq, h, 128], k and v [b, nk, h, 128], all of one type, bf16 or fp16, and so are
 * map_q and map_k, [h, 128, 64] (other widths are TK_UNSUPPORTED). alpha and beta are fp32 [h], 0
 * or more. Queries are the last nq of nk tokens; where nq is above nk, the first ones have no
 * token, and their o is not written. Any nq and nk, also 0.
 *
 * States are fp32, kv[b, h, 128, 128] = sum of phi(k_j) (x) v_j and k[b, h, 128] = sum of phi(k_j).
 * initial_* are sums over tokens before the first key, which are before every window; of nk tokens,
 * final_* hold these and the keys that are before the window of the next token: all but the last
 * 64 + nk % 64, and none where nk is less than 128. Both kinds may be the same memory, in the same
 * layout. So a sequence can be continued: keep the k and v that final_* do not hold (from 64 to 127
 * tokens), put those of the next tokens behind them, and give both as k and v, with final_* as
 * initial_* and the next tokens' q. A step of decoding is such a call with nq = 1. Where nk reaches
 * 128, final_* take in the first 64, and keys are kept from there. Results are those of one call,
 * but for the rounding of sums.
 *
 * normaliser, fp32 [b, h, nq], of packed sequences [h, total], gets what o is divided by.
 *
 * Sequences of different lengths: lengths, int32 [b] on the device, says how many of the nk keys
 * each sequence has, the first ones; its queries are the last nq of these. What is below 0 counts
 * as 0, what is above nk as nk. Packed sequences: q, k, v, o lack b, starts, int32 [b + 1] on the
 * device, says where each begins in q and o and the last ends, and key_starts the same in k and v
 * (NULL: as starts). What is negative counts as 0, what is above the total as the total; rows of no
 * sequence are not written. Starts must not decrease: where they do, any sequence may get wrong
 * results, and nothing outside of the outputs is written. With them, lengths must be NULL. Blocks
 * of 16 keys of all heads are at most 2^26, and so are blocks of 16 queries (else TK_UNSUPPORTED).
 *
 * Sums are fp32; weights, features, and the state where it meets a query, are rounded to the type:
 * what fp16 holds no more, below 2^-24, is lost. NaN or infinity in v of a token may reach earlier
 * tokens of its block (0 times NaN), none of another sequence or head. `repeat`: with TK_REPEAT_ROW
 * a token's bits depend on its sequence and head up to the end of its block, and on which of the
 * options are given; with TK_REPEAT_RUN the sums of long sequences may be cut to keep more
 * multiprocessors busy, and steps of decoding of a batch whose nk is below 128, or is 128 with
 * lengths, have bits of their own: but for keys that final_* take in, nothing in them is rounded
 * but o. */
typedef struct tk_hedgehog_problem {
  size_t size; /* sizeof(tk_hedgehog_problem) */
  DLTensor const* q;
  DLTensor const* k;
  DLTensor const* v;
  DLTensor const* o;
  DLTensor const* map_q;
  DLTensor const* map_k;
  DLTensor const* alpha;      /* factors of the linear part */
  DLTensor const* beta;       /* factors of the window */
  DLTensor const* initial_kv; /* may be NULL: 0; so with initial_k, both or none */
  DLTensor const* initial_k;
  DLTensor const* final_kv; /* may be NULL: not wanted; so with final_k, both or none */
  DLTensor const* final_k;
  DLTensor const* starts;     /* NULL: a batch */
  DLTensor const* key_starts; /* NULL: as starts */
  DLTensor const* lengths;    /* may be NULL: nk */
  DLTensor const* normaliser; /* may be NULL: not wanted; the backward asks for it */
  float scale;                /* from 2^-64 to 2^64; 1 / sqrt(128) is usual */
  int reserved2;              /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_hedgehog_problem;

TK_API tk_status tk_hedgehog(tk_hedgehog_problem const* problem, void* workspace,
                             size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_HEDGEHOG_H */
