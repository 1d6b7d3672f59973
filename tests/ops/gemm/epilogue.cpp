// SPDX-License-Identifier: MIT
// timeout: 600
// tk_gemm's epilogue: alpha, beta with c apart, in place and unread, biases, activations; results
// beyond the output's range; infinities and NaN in the inputs.
#include "tests/ops/gemm/oracle.hpp"
#include "tests/support/suite.hpp"

namespace tk::test {
namespace {

constexpr dtype outputs[] = {dtype::bf16, dtype::fp16, dtype::fp32};
constexpr tk_activation_kind activations[] = {TK_ACTIVATION_NONE, TK_ACTIVATION_RELU,
                                              TK_ACTIVATION_SILU, TK_ACTIVATION_GELU_TANH,
                                              TK_ACTIVATION_GELU_ERF};
constexpr tk_bias biases[] = {TK_BIAS_NONE, TK_BIAS_ROW, TK_BIAS_COLUMN};

struct linear {
  float alpha, beta;
  c_use c;
};
// Powers of two and small integers keep integer contents exact.
constexpr linear combinations[] = {
    {1, 0, c_use::none},      {1, 0, c_use::unread},   {0.5f, 0, c_use::none},
    {-2, 1, c_use::separate}, {1, 1, c_use::in_place}, {1, -0.5f, c_use::in_place},
    {0, 1, c_use::separate},  {0, 0, c_use::unread},   {0.25f, 4, c_use::separate},
    {1, 1, c_use::separate},
};

void turn_types(gemm_case& x, std::size_t turn) {
  x.in = turn % 2 ? dtype::fp16 : dtype::bf16;
  x.transpose_a = turn / 2 % 2;
  x.transpose_b = turn / 4 % 2;
}

// Activation x bias and its type x output; linear combination and contents turn.
std::vector<gemm_case> epilogues() {
  std::vector<gemm_case> cases;
  bool const full = test_level() != level::quick;
  std::size_t turn = 0;
  for (auto const activation : activations)
    for (auto const bias : biases)
      for (auto const out : outputs)
        for (bool const wide_bias : {true, false}) {
          if (!wide_bias && (bias == TK_BIAS_NONE || out == dtype::fp32)) continue;
          for (auto const& how : combinations) {
            ++turn;
            if (!full && turn % 5 != turn / 10 % 5) continue;
            gemm_case x{.m = full ? 135 : 70, .n = full ? 270 : 93, .k = 48};
            if (turn % 4 == 0) x = many({.m = 66, .n = 60, .k = 40}, turn / 4);
            x.out = out;
            x.activation = activation;
            x.bias = bias;
            x.bias_type = wide_bias ? dtype::fp32 : out;
            x.alpha = how.alpha, x.beta = how.beta, x.c = how.c;
            x.values = turn / 3 % 2 ? data::integers : data::reals;
            turn_types(x, turn);
            cases.push_back(x);
          }
        }
  return cases;
}

// A linear layer's epilogue where nothing is summed, whatever alpha is, and on tails of one row and
// one column.
std::vector<gemm_case> corners() {
  std::vector<gemm_case> cases;
  std::size_t turn = 0;
  for (std::int64_t const k : {0, 1, 72})
    for (std::int64_t const m : {1, 129})
      for (std::int64_t const n : {1, 257})
        for (auto const bias : {TK_BIAS_ROW, TK_BIAS_COLUMN})
          for (auto const activation : {TK_ACTIVATION_NONE, TK_ACTIVATION_GELU_ERF}) {
            gemm_case x{.m = m, .n = n, .k = k, .batch = m * n > 1000 ? 1 : 3};
            x.out = outputs[turn % 3];
            x.bias = bias;
            x.bias_type = turn / 3 % 2 ? dtype::fp32 : x.out;
            x.activation = activation;
            x.alpha = k == 0 ? HUGE_VALF : 1.5f, x.beta = k == 72 ? 0 : -1,
            x.c = k == 72 ? c_use::unread : c_use::separate;
            turn_types(x, turn++);
            cases.push_back(x);
          }
  return cases;
}

// Numbers that fp32 or double cannot hold exactly, and results out of range.
std::vector<gemm_case> ranges() {
  std::vector<gemm_case> cases;
  std::size_t turn = 0;
  for (auto const out : outputs)
    for (auto const activation : activations)
      for (float const alpha : {0.1f, -3.7f, 1e-6f, 3e4f, -1e30f}) {
        gemm_case x{.m = 40, .n = 50, .k = 60};
        x.out = out;
        x.activation = activation;
        x.alpha = alpha;
        x.beta = 0.3f, x.c = turn % 2 ? c_use::separate : c_use::in_place;
        turn_types(x, turn++);
        cases.push_back(x);
      }
  return cases;
}

// What is not finite spreads to its row of a and its column of b, and to nothing else.
std::vector<gemm_case> specials() {
  std::vector<gemm_case> cases;
  std::size_t turn = 0;
  for (double const special : {HUGE_VAL, -HUGE_VAL, std::nan("")})
    for (auto const out : outputs)
      for (std::size_t transposes = 0; transposes < 4; ++transposes) {
        gemm_case x{.m = 67, .n = 131, .k = turn % 2 ? 65 : 64};
        x.out = out;
        turn_types(x, transposes * 2 + turn++ % 2);
        x.special = special;
        if (turn % 3 == 0) x.activation = TK_ACTIVATION_RELU;
        cases.push_back(x);
      }
  return cases;
}

// Alpha 0 still multiplies, so that NaN passes.
std::vector<gemm_case> zero_alpha() {
  std::vector<gemm_case> cases;
  for (auto const out : outputs) {
    gemm_case x{.m = 33, .n = 40, .k = 24, .out = out, .alpha = 0, .beta = 1};
    x.c = c_use::separate;
    cases.push_back(x);
    x.special = std::nan("");
    cases.push_back(x);
  }
  return cases;
}

// Where m equals n, either bias has the other's length.
std::vector<gemm_case> square_biases() {
  std::vector<gemm_case> cases;
  for (auto const bias : {TK_BIAS_ROW, TK_BIAS_COLUMN})
    for (auto const out : outputs) {
      gemm_case x{.m = 72, .n = 72, .k = 40, .out = out};
      x.bias = bias;
      cases.push_back(x);
    }
  return cases;
}

TEST_CASE("gemm with every epilogue") { run_table("epilogues", epilogues()); }
TEST_CASE("gemm's epilogue at the corners") { run_table("corners", corners()); }
TEST_CASE("gemm out of range") { run_table("ranges", ranges()); }
TEST_CASE("gemm of infinities and NaN") { run_table("specials", specials()); }
TEST_CASE("gemm where alpha is 0") { run_table("zero alpha", zero_alpha()); }
TEST_CASE("gemm with a bias where m equals n") { run_table("square biases", square_biases()); }

}  // namespace
}  // namespace tk::test
