// SPDX-License-Identifier: MIT
// A small correct problem, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/topk/topk.h"
#include "tests/support/scene.hpp"

namespace scene {

inline constexpr std::size_t at_x = 0, at_values = 8192, at_indices = 16384;

struct topk {
  using problem_type = tk_topk_problem;
  static constexpr tk_op op = TK_OP_TOPK;
  static constexpr char const* call_name = "tk_topk";
  static constexpr char const* outputs[] = {"values", "indices"};
  static constexpr std::size_t first_size = 40;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 48);
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(at_x), fp32, {2, 3, 20}};
  tensor values{arena.at(at_values), fp32, {2, 3, 4}};
  tensor indices{arena.at(at_indices), int32, {2, 3, 4}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr, nullptr, 0, 0, TK_REPEAT_RUN, 0};

  std::vector<argument> arguments() {
    return {{"x", &x}, {"values", &values, true}, {"indices", &indices, true}};
  }
  std::vector<tensor*> all() { return {&x, &values, &indices}; }
  problem_type const* get() {
    problem.x = x.given;
    problem.values = values.given;
    problem.indices = indices.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_topk(x, workspace, size, stream);
  }
};

}  // namespace scene
