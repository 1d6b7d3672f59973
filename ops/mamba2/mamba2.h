/* SPDX-License-Identifier: MIT
 * The C interface of mamba2; what holds of every call is in tk_base.h. */
#ifndef TK_MAMBA2_H
#define TK_MAMBA2_H

#include "ops/tk_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The state space scan of Mamba-2 (SSD), for each head a state of p by s numbers:
 *   dt'_t = clamp(dt_t + dt_bias, dt_min, dt_max), with softplus before the clamp where asked for
 *   S_t = exp(dt'_t A) S_(t-1) + dt'_t x_t B_t^T,  y_t = S_t C_t + D x_t,  with z: y_t silu(z_t)
 *
 * x, y and z are [b, n, h, p], B and C [b, n, g, s], all of one type, bf16 or fp16; head i takes
 * group i / (h / g), and g divides h; p and s are multiples of 16 up to 256 (else TK_UNSUPPORTED);
 * any n, also 0. dt is [b, n, h], of x's type or fp32; fp32 are A [h], below 0, dt_bias [h] and D
 * [h] or [h, p]. Where dt' A is above 0 states grow, and are right while they are finite; a factor
 * below 2^-160 counts as 2^-160. States are fp32 [b, h, p, s]: S_0 is initial_state, or 0, and
 * final_state, where given, gets S_n. They may be the same memory: a step of decoding is a call
 * with n = 1.
 *
 * Packed sequences, as in linear_attention.h: x, y, z, B, C, dt lack b, and starts, int32 [b + 1]
 * on the device, says where each begins and the last ends. The blocks of 16 tokens of all heads, of
 * which a sequence may leave one in part, are at most 2^26, and h p is at most 2^31 - 1025 (else
 * TK_UNSUPPORTED).
 *
 * Sums are fp32; weights within a chunk of up to 64 tokens, weighted values, and the state where it
 * meets C, are rounded to the type: what fp16 holds no more, below 2^-24, is lost. NaN or infinity
 * in x of a token may reach earlier tokens of its chunk, none of another sequence or head.
 * `repeat`: with TK_REPEAT_ROW a token's bits depend on its sequence and head up to the end of its
 * chunk. With TK_REPEAT_RUN also on n, and on how many sequences and heads there are, if they are
 * not packed: they choose where the state is rounded and how it is summed. Steps of decoding,
 * sequences of one token in a batch of such, have y alone rounded then. */
typedef struct tk_mamba2_problem {
  size_t size; /* sizeof(tk_mamba2_problem) */
  DLTensor const* x;
  DLTensor const* dt;
  DLTensor const* A;
  DLTensor const* B;
  DLTensor const* C;
  DLTensor const* D;       /* may be NULL: 0 */
  DLTensor const* z;       /* may be NULL: no gate */
  DLTensor const* dt_bias; /* may be NULL: 0 */
  DLTensor const* y;
  DLTensor const* initial_state; /* may be NULL: 0 */
  DLTensor const* final_state;   /* may be NULL: not wanted */
  DLTensor const* starts;        /* NULL: a batch */
  float dt_min;                  /* 0 is usual */
  float dt_max;                  /* at least dt_min; INFINITY is usual */
  int dt_softplus;               /* 0 or 1 */
  int reserved2;                 /* 0 */
  /* a problem may end here */
  tk_repeat repeat;
  int reserved; /* 0 */
} tk_mamba2_problem;

TK_API tk_status tk_mamba2(tk_mamba2_problem const* problem, void* workspace,
                           size_t workspace_bytes, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* TK_MAMBA2_H */
