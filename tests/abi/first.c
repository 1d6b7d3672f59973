/* SPDX-License-Identifier: MIT
 * A program compiled against the first version's header, run with today's library: each op of that
 * version, on the CPU, with structs that end where they ended then. The bytes behind them are not
 * zero. Exit status 0 if all is as it should be. */
#include "first.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(tk_gemm_problem) == 72 && sizeof(tk_attention_forward_problem) == 56 &&
                   sizeof(tk_norm_problem) == 64,
               "the first version's structs");

enum { rows = 3, width = 16 };

static float x[rows * width], y[rows * width];
static uint16_t halves[rows * width], o[rows * width];
static _Alignas(16) char workspace[1 << 16];

static DLTensor tensor(void* data, uint8_t code, uint8_t bits, int ndim, int64_t* shape) {
  DLTensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.device.device_type = kDLCPU;
  t.ndim = ndim;
  t.dtype.code = code;
  t.dtype.bits = bits;
  t.dtype.lanes = 1;
  t.shape = shape;
  return t;
}

static int failed(char const* call, tk_status status) {
  if (status != TK_OK) printf("%s: %s\n", call, tk_last_error());
  return status != TK_OK;
}

static int wrong(char const* what, double is, double should) {
  if (fabs(is - should) <= 1e-5) return 0;
  printf("%s is %g, should be %g\n", what, is, should);
  return 1;
}

/* Struct and what lies behind it. */
#define FILLED(TYPE)                       \
  struct {                                 \
    TYPE problem;                          \
    char behind[64];                       \
  } s;                                     \
  memset(&s, 0x5a, sizeof s);              \
  memset(&s.problem, 0, sizeof s.problem); \
  s.problem.size = sizeof s.problem

static int run_gemm(void) {
  int64_t square[] = {rows, width}, out[] = {rows, rows};
  DLTensor a = tensor(halves, kDLBfloat, 16, 2, square), b = a;
  DLTensor d = tensor(y, kDLFloat, 32, 2, out);
  FILLED(tk_gemm_problem);
  s.problem.a = &a;
  s.problem.b = &b;
  s.problem.d = &d;
  s.problem.transpose_b = 1;
  s.problem.alpha = 0.5f;
  size_t bytes = 0;
  if (failed("tk_workspace", tk_workspace(TK_OP_GEMM, &s.problem, &bytes)) ||
      bytes > sizeof workspace ||
      failed("tk_gemm", tk_gemm(&s.problem, workspace, sizeof workspace, NULL)))
    return 1;
  return wrong("d", y[rows * rows - 1], 0.5 * width);
}

static int run_attention(void) {
  int64_t heads[] = {1, rows, 1, width}, row[] = {1, 1, rows};
  DLTensor q = tensor(halves, kDLBfloat, 16, 4, heads), k = q, v = q;
  DLTensor out = tensor(o, kDLBfloat, 16, 4, heads), lse = tensor(y, kDLFloat, 32, 3, row);
  FILLED(tk_attention_forward_problem);
  s.problem.q = &q;
  s.problem.k = &k;
  s.problem.v = &v;
  s.problem.o = &out;
  s.problem.lse = &lse;
  s.problem.mask = TK_MASK_CAUSAL;
  s.problem.scale = 0.25f;
  if (failed("tk_attention_forward",
             tk_attention_forward(&s.problem, workspace, sizeof workspace, NULL)))
    return 1;
  return wrong("lse", y[0], 0.25 * width) || wrong("o's bits", o[0], 0x3f80);
}

static int run_norm(void) {
  int64_t shape[] = {rows, width};
  for (int i = 0; i < rows * width; ++i) x[i] = i % 2 ? 3.0f : 1.0f;
  DLTensor tx = tensor(x, kDLFloat, 32, 2, shape), ty = tensor(y, kDLFloat, 32, 2, shape);
  FILLED(tk_norm_problem);
  s.problem.x = &tx;
  s.problem.y = &ty;
  s.problem.kind = TK_NORM_LAYER;
  s.problem.eps = 3.0f;
  if (failed("tk_norm", tk_norm(&s.problem, workspace, sizeof workspace, NULL))) return 1;
  return wrong("y", y[1], 0.5);
}

int main(void) {
  for (int i = 0; i < rows * width; ++i) halves[i] = 0x3f80; /* 1 in bf16 */
  return run_gemm() || run_attention() || run_norm();
}
