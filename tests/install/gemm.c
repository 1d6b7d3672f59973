/* SPDX-License-Identifier: MIT
 * d = a b on the C interface, in C11: a [3, 5] and b [5, 4] in bf16, d [3, 4] in fp32, on the CPU.
 * The values are small integers, so that every sum is exact. A second call must be refused, with a
 * sentence. Exit status 0 if all is as it should be. */
#include <stdio.h>
#include <string.h>
#include <tk_ops.h>

enum { m = 3, n = 4, k = 5 };

static uint16_t bf16(float x) { /* exact for small integers */
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (uint16_t)(bits >> 16);
}

static DLTensor matrix(void* data, DLDataTypeCode code, uint8_t bits, int64_t* shape) {
  DLTensor x = {0};
  x.data = data;
  x.ndim = 2;
  x.dtype.code = (uint8_t)code;
  x.dtype.bits = bits;
  x.dtype.lanes = 1;
  x.shape = shape;
  x.device.device_type = kDLCPU;
  return x;
}

int main(void) {
  uint16_t a[m * k], b[k * n];
  float d[m * n];
  for (int i = 0; i < m * k; ++i) a[i] = bf16((float)(i % 7 - 3));
  for (int i = 0; i < k * n; ++i) b[i] = bf16((float)(i % 5 - 2));
  for (int i = 0; i < m * n; ++i) d[i] = -1000.0f;

  int64_t a_shape[] = {m, k}, b_shape[] = {k, n}, d_shape[] = {m, n};
  DLTensor ta = matrix(a, kDLBfloat, 16, a_shape), tb = matrix(b, kDLBfloat, 16, b_shape);
  DLTensor td = matrix(d, kDLFloat, 32, d_shape);
  tk_gemm_problem problem = {0};
  problem.size = sizeof problem;
  problem.a = &ta;
  problem.b = &tb;
  problem.d = &td;
  problem.alpha = 1.0f;

  size_t bytes = 0;
  static _Alignas(16) char workspace[1 << 16];
  if (tk_workspace(TK_OP_GEMM, &problem, &bytes) != TK_OK || bytes > sizeof workspace ||
      tk_gemm(&problem, workspace, sizeof workspace, NULL) != TK_OK) {
    printf("tk_gemm: %s (workspace %zu)\n", tk_last_error(), bytes);
    return 1;
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (int l = 0; l < k; ++l)
        sum += (float)((i * k + l) % 7 - 3) * (float)((l * n + j) % 5 - 2);
      if (d[i * n + j] != sum) {
        printf("d[%d, %d] is %g, must be %g\n", i, j, d[i * n + j], sum);
        return 1;
      }
    }

  problem.a = NULL;
  if (tk_gemm(&problem, workspace, sizeof workspace, NULL) != TK_NULL_POINTER ||
      strlen(tk_last_error()) == 0) {
    printf("a missing operand was not refused\n");
    return 1;
  }
  printf("%s\n", tk_version());
  return 0;
}
