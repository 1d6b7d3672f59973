// SPDX-License-Identifier: MIT
// A small correct problem of the op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/gemm/gemm.h"
#include "tests/support/scene.hpp"

namespace scene {

struct gemm {
  using problem_type = tk_gemm_problem;
  static constexpr tk_op op = TK_OP_GEMM;
  static constexpr char const* call_name = "tk_gemm";
  static constexpr char const* outputs[] = {"d"};
  static constexpr in_place_pair in_place[] = {{"d", "c"}};
  static constexpr std::size_t first_size = 72;  // of the struct's first version
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor a{arena.at(0), bf16, {2, 8, 16}};
  tensor b{arena.at(4096), bf16, {2, 16, 24}};
  tensor c{arena.at(8192), fp32, {2, 8, 24}};
  tensor d{arena.at(12288), fp32, {2, 8, 24}};
  tensor bias{arena.at(16384), fp32, {24}};
  problem_type problem{sizeof(problem_type),
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       0,
                       0,
                       1,
                       1,
                       TK_BIAS_ROW,
                       TK_ACTIVATION_NONE,
                       TK_REPEAT_RUN,
                       0};

  std::vector<argument> arguments() {
    return {{"a", &a}, {"b", &b}, {"c", &c}, {"d", &d}, {"bias", &bias}};
  }
  problem_type const* get() {
    problem.a = a.given;
    problem.b = b.given;
    problem.c = c.given;
    problem.d = d.given;
    problem.bias = bias.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_gemm(x, workspace, size, stream);
  }
};

// One batch, no c, no bias.
inline void make_plain(gemm& s) {
  for (auto* t : {&s.a, &s.b, &s.d}) t->shape[0] = 1;
  s.problem.beta = 0;
  s.c.given = s.bias.given = nullptr;
  s.problem.bias_kind = TK_BIAS_NONE;
}

}  // namespace scene
