// SPDX-License-Identifier: MIT
// A small correct problem of each op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/cross_entropy/cross_entropy.h"
#include "ops/cross_entropy/cross_entropy_backward.h"
#include "tests/support/scene.hpp"

namespace scene {

inline constexpr std::size_t at_x = 0, at_labels = 4096, at_loss = 8192, at_lse = 12288,
                             at_dloss = 14336, at_dx = 16384;

struct cross_entropy {
  using problem_type = tk_cross_entropy_problem;
  static constexpr tk_op op = TK_OP_CROSS_ENTROPY;
  static constexpr char const* call_name = "tk_cross_entropy";
  static constexpr char const* outputs[] = {"loss", "lse", "dx"};
  static constexpr in_place_pair in_place[] = {{"dx", "x"}};
  static constexpr std::size_t first_size = 80;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 88);
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(at_x), fp32, {2, 3, 20}};
  tensor labels{arena.at(at_labels), int32, {2, 3}};
  tensor loss{arena.at(at_loss), fp32, {2, 3}};
  tensor lse{arena.at(at_lse), fp32, {2, 3}};
  tensor dx{arena.at(at_dx), fp32, {2, 3, 20}};
  problem_type problem{};

  cross_entropy() {
    problem.size = sizeof problem;
    problem.dloss_scale = 1;
  }
  std::vector<argument> arguments() {
    return {{"x", &x},
            {"labels", &labels, false, true},
            {"loss", &loss, false, true},
            {"lse", &lse, true, true},
            {"dx", &dx, true}};
  }
  problem_type const* get() {
    problem.x = x.given;
    problem.labels = labels.given;
    problem.loss = loss.given;
    problem.lse = lse.given;
    problem.dx = dx.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_cross_entropy(x, workspace, size, stream);
  }
};

struct cross_entropy_backward {
  using problem_type = tk_cross_entropy_backward_problem;
  static constexpr tk_op op = TK_OP_CROSS_ENTROPY_BACKWARD;
  static constexpr char const* call_name = "tk_cross_entropy_backward";
  static constexpr char const* outputs[] = {"dx"};
  static constexpr in_place_pair in_place[] = {{"dx", "x"}};
  static constexpr std::size_t first_size = 72;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 80);
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(at_x), fp32, {2, 3, 20}};
  tensor labels{arena.at(at_labels), int32, {2, 3}};
  tensor lse{arena.at(at_lse), fp32, {2, 3}};
  tensor dloss{arena.at(at_dloss), fp32, {2, 3}};
  tensor dx{arena.at(at_dx), fp32, {2, 3, 20}};
  problem_type problem{};

  cross_entropy_backward() { problem.size = sizeof problem; }
  std::vector<argument> arguments() {
    return {{"x", &x},
            {"labels", &labels, false, true},
            {"lse", &lse, false, true},
            {"dloss", &dloss, false, true},
            {"dx", &dx}};
  }
  problem_type const* get() {
    problem.x = x.given;
    problem.labels = labels.given;
    problem.lse = lse.given;
    problem.dloss = dloss.given;
    problem.dx = dx.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_cross_entropy_backward(x, workspace, size, stream);
  }
};

}  // namespace scene
