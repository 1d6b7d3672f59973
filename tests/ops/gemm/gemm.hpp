// SPDX-License-Identifier: MIT
// One case of tk_gemm: what to multiply, how its operands lie in memory, and how to judge it.
//   d[batch, m, n] = activation(alpha op(a) op(b) + beta c + bias)
// gemm_operands builds the operands, launch_twice() launches; oracle.hpp judges.
#pragma once
#include <optional>
#include <string>

#include "ops/gemm/gemm.h"
#include "tests/support/matrix.hpp"
#include "tests/support/verdict.hpp"

namespace tk::test {

enum class c_use { none, separate, in_place, unread };  // unread: beta is 0, c is NaN
enum class check_kind {
  everything,  // each element
  some_rows,   // each element of some rows
  probe,       // d x = a (b x) for a random x, in integers: any one wrong element shows
};

struct gemm_case {
  std::int64_t m, n, k, batch = 1;
  bool transpose_a = false, transpose_b = false;
  dtype in = dtype::bf16, out = dtype::bf16;
  data values = data::reals;
  float alpha = 1, beta = 0;
  c_use c = c_use::none;
  tk_bias bias = TK_BIAS_NONE;
  dtype bias_type = dtype::fp32;
  tk_activation_kind activation = TK_ACTIVATION_NONE;
  matrix_layout a_layout = {}, b_layout = {}, c_layout = {}, d_layout = {};
  check_kind check = check_kind::everything;
  std::optional<double> special = {};  // put into the last element of a and the first of b
};

// Many such products, for one chip's tiles or another's: as large as they are; wider; taller, too,
// so that they fill one of the largest tiles best.
inline gemm_case many(gemm_case x, std::size_t turn) {
  x.batch = 2 * be::rt::device().multiprocessors;
  if (turn % 3 > 0) x.n += turn % 3 == 1 ? 128 : 192;
  if (turn % 3 == 2) x.m += 128;
  return x;
}

// The operands of one case.
struct gemm_operands {
  explicit gemm_operands(gemm_case const& x);
  gemm_operands(gemm_operands const&) = delete;

  gemm_case of;
  world memories;
  tensor a, b, c, bias, d;
};

inline tk_gemm_problem problem_of(gemm_operands const& x, DLTensor const* tensors) {
  gemm_case const& y = x.of;
  tk_gemm_problem p{};
  p.size = sizeof p;
  p.a = tensors;
  p.b = tensors + 1;
  p.c = y.c == c_use::none ? nullptr : tensors + 2;
  p.bias = y.bias == TK_BIAS_NONE ? nullptr : tensors + 3;
  p.d = tensors + 4;
  p.transpose_a = y.transpose_a;
  p.transpose_b = y.transpose_b;
  p.alpha = y.alpha;
  p.beta = y.beta;
  p.bias_kind = y.bias;
  p.activation = y.activation;
  return p;
}

inline char const* name_of(tk_activation_kind x) {
  switch (x) {
    case TK_ACTIVATION_RELU: return " relu";
    case TK_ACTIVATION_SILU: return " silu";
    case TK_ACTIVATION_GELU_TANH: return " gelu_tanh";
    case TK_ACTIVATION_GELU_ERF: return " gelu_erf";
    default: return "";
  }
}

inline std::string describe(gemm_case const& x) {
  static char const* const values[] = {"reals", "positive", "integers", "sparse", "zeros", "NaN"};
  static char const* const uses[] = {"", " c", " c=d", " c unread"};
  std::ostringstream s;
  s << "gemm " << x.m << "x" << x.n << "x" << x.k << " batch " << x.batch << " "
    << (x.transpose_a ? 't' : 'n') << (x.transpose_b ? 't' : 'n') << " " << name_of(x.in) << "->"
    << name_of(x.out) << " " << values[static_cast<int>(x.values)] << " alpha " << x.alpha
    << " beta " << x.beta << uses[static_cast<int>(x.c)];
  if (x.bias != TK_BIAS_NONE)
    s << (x.bias == TK_BIAS_ROW ? " row" : " column") << " bias " << name_of(x.bias_type);
  s << name_of(x.activation);
  if (x.special) s << " with " << *x.special;
  describe(s, "a", x.a_layout);
  describe(s, "b", x.b_layout);
  describe(s, "c", x.c_layout);
  describe(s, "d", x.d_layout);
  return s.str();
}

inline gemm_operands::gemm_operands(gemm_case const& x) : of(x), memories(2) {
  auto const input = [&](std::int64_t rows, std::int64_t cols, bool transposed,
                         matrix_layout const& how, data values, std::uint64_t stream) {
    if (transposed) std::swap(rows, cols);
    tensor y = place(memories, x.in, x.batch, rows, cols, how, role::input);
    fill(y, values, stream);
    return y;
  };
  a = input(x.m, x.k, x.transpose_a, x.a_layout, x.values, 11);
  b = input(x.k, x.n, x.transpose_b, x.b_layout, x.values, 12);
  if (x.special && a.rows() * a.cols() > 0) set(a, a.rows() - 1, a.cols() - 1, *x.special);
  if (x.special && b.rows() * b.cols() > 0) set(b, 0, 0, *x.special);
  d = place(memories, x.out, x.batch, x.m, x.n, x.d_layout, role::output);
  if (x.c == c_use::separate || x.c == c_use::unread)
    c = place(memories, x.out, x.batch, x.m, x.n, x.c_layout, role::input);
  if (x.c == c_use::in_place) c = d;
  if (x.c != c_use::none) fill(c, x.c == c_use::unread ? data::nans : x.values, 13);
  if (x.c != c_use::in_place) fill(d, data::nans, 0);
  if (x.bias != TK_BIAS_NONE) {
    bias = memories.make(x.bias_type, {x.bias == TK_BIAS_ROW ? x.n : x.m}, {1}, role::input, 1);
    fill(bias, x.values, 14);
  }
}

template <class Body> std::string with_problem(gemm_operands const& x, Body const& body) {
  auto const dl = [](tensor const& t) { return t.in ? t.dl() : DLTensor{}; };
  DLTensor const tensors[] = {dl(x.a), dl(x.b), dl(x.c), dl(x.bias), dl(x.d)};
  auto const problem = problem_of(x, tensors);
  return body(called_op{TK_OP_GEMM, tk_gemm}, &problem);
}

}  // namespace tk::test
