// SPDX-License-Identifier: MIT
// A small correct problem of the op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/attention/attention_backward.h"
#include "tests/support/scene.hpp"

namespace scene {

struct attention_backward {
  using problem_type = tk_attention_backward_problem;
  static constexpr tk_op op = TK_OP_ATTENTION_BACKWARD;
  static constexpr char const* call_name = "tk_attention_backward";
  static constexpr std::size_t first_size = 88;  // of the struct's first version
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor q{arena.at(0), bf16, {2, 5, 4, 16}};
  tensor k{arena.at(2048), bf16, {2, 7, 2, 16}};
  tensor v{arena.at(4096), bf16, {2, 7, 2, 24}};
  tensor o{arena.at(6144), bf16, {2, 5, 4, 24}};
  tensor lse{arena.at(8192), fp32, {2, 4, 5}};
  tensor dout{arena.at(10240), bf16, {2, 5, 4, 24}};
  tensor dq{arena.at(12288), bf16, {2, 5, 4, 16}};
  tensor dk{arena.at(14336), bf16, {2, 7, 2, 16}};
  tensor dv{arena.at(16384), bf16, {2, 7, 2, 24}};
  problem_type problem{sizeof(problem_type),
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       TK_MASK_CAUSAL,
                       0.25f,
                       TK_REPEAT_RUN,
                       0};

  std::vector<argument> arguments() {
    return {{"q", &q},       {"k", &k},   {"v", &v},   {"o", &o},  {"lse", &lse},
            {"dout", &dout}, {"dq", &dq}, {"dk", &dk}, {"dv", &dv}};
  }
  std::vector<tensor*> halves() { return {&q, &k, &v, &o, &dout, &dq, &dk, &dv}; }
  problem_type const* get() {
    problem.q = q.given;
    problem.k = k.given;
    problem.v = v.given;
    problem.o = o.given;
    problem.lse = lse.given;
    problem.dout = dout.given;
    problem.dq = dq.given;
    problem.dk = dk.given;
    problem.dv = dv.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_attention_backward(x, workspace, size, stream);
  }
};

}  // namespace scene
