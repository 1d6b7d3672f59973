// SPDX-License-Identifier: MIT
// A small correct problem, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/linear_cross_entropy/linear_cross_entropy.h"
#include "tests/support/scene.hpp"

namespace scene {

inline constexpr std::size_t at_x = 0, at_w = 1024, at_labels = 4096, at_loss = 8192,
                             at_lse = 12288, at_dx = 16384, at_dw = 20480;

struct linear_cross_entropy {
  using problem_type = tk_linear_cross_entropy_problem;
  static constexpr tk_op op = TK_OP_LINEAR_CROSS_ENTROPY;
  static constexpr char const* call_name = "tk_linear_cross_entropy";
  static constexpr char const* outputs[] = {"loss", "lse", "dx", "dw"};
  static constexpr std::size_t first_size = 104;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 112);
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(at_x), bf16, {6, 8}};
  tensor w{arena.at(at_w), bf16, {20, 8}};
  tensor labels{arena.at(at_labels), int32, {6}};
  tensor loss{arena.at(at_loss), fp32, {6}};
  tensor lse{arena.at(at_lse), fp32, {6}};
  tensor dx{arena.at(at_dx), bf16, {6, 8}};
  tensor dw{arena.at(at_dw), fp32, {20, 8}};
  problem_type problem{};

  linear_cross_entropy() {
    problem.size = sizeof problem;
    problem.dloss_scale = 1;
    problem.chunk_rows = 4;
  }
  std::vector<argument> arguments() {
    return {{"x", &x},
            {"w", &w},
            {"labels", &labels, false, true},
            {"loss", &loss, false, true},
            {"lse", &lse, true, true},
            {"dx", &dx, true},
            {"dw", &dw, true}};
  }
  problem_type const* get() {
    problem.x = x.given;
    problem.w = w.given;
    problem.labels = labels.given;
    problem.loss = loss.given;
    problem.lse = lse.given;
    problem.dx = dx.given;
    problem.dw = dw.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_linear_cross_entropy(x, workspace, size, stream);
  }
};

}  // namespace scene
