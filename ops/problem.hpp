// SPDX-License-Identifier: MIT
// What the checks hand to the launches: problems whose every promise has been verified. Sizes fit
// in 31 bits, strides are in elements, `type` says what an untyped tensor holds.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tk {

enum class element : int { bf16, fp16, fp32 };

// data[i * strides[0] + j * strides[1] + ...]; dimensions a problem lacks have size 1, stride 0.
struct any_tensor {
  void* data;
  element type;
};
struct matrix : any_tensor {  // [batch, rows, cols]
  std::int64_t batch, rows, cols, batch_stride, row_stride;
};
struct heads : any_tensor {  // [b, n, h, d]
  std::int64_t b, n, h, d, b_stride, n_stride, h_stride;
};

enum class activation_kind : int { none, relu, silu, gelu_tanh, gelu_erf };
enum class bias_kind : int { none, row, column };
enum class mask_kind : int { none, causal };
enum class norm_kind : int { layer, rms };

// d = activation(alpha op(a) op(b) + beta c + bias); m, n, k are those of op(a) [m, k], op(b) [k,
// n].
struct gemm_problem {
  matrix a, b, c, d;  // c: data is null where beta is 0; a, b, c: batch 1 serves each of d's
  any_tensor bias;    // data is null where there is none
  std::int64_t batch, m, n, k;
  bool transpose_a, transpose_b;
  float alpha, beta;
  bias_kind bias_along;
  activation_kind activation;
};

struct attention_forward_problem {
  heads q, k, v, o;
  float* lse;  // [b, hq, nq]; may be null
  std::int64_t lse_b_stride, lse_h_stride;
  mask_kind mask;
  float scale;
};

// r = x + residual; y is r, normalised row by row. data is null in what is absent.
struct norm_problem {
  matrix x, residual, y, r;  // batch 1
  any_tensor weight, bias;   // of one type
  norm_kind kind;
  float eps;
};

// A workspace begins with counters, which are zero before and after every launch.
inline constexpr std::size_t counter_bytes = 4096;

// Launch on `stream`; throw tk::error. Defined in each op's folder, one for all chips.
void launch(gemm_problem const& x, void* workspace, void* stream);
void launch(attention_forward_problem const& x, void* workspace, void* stream);
void launch(norm_problem const& x, void* workspace, void* stream);
std::size_t workspace_bytes(gemm_problem const& x);
std::size_t workspace_bytes(attention_forward_problem const& x);
std::size_t workspace_bytes(norm_problem const& x);

}  // namespace tk
