// SPDX-License-Identifier: MIT
// A small correct problem of the op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/add/add.h"
#include "tests/support/scene.hpp"

namespace scene {

struct add {
  using problem_type = tk_add_problem;
  static constexpr tk_op op = TK_OP_ADD;
  static constexpr char const* call_name = "tk_add";
  static constexpr char const* outputs[] = {"y"};
  static constexpr in_place_pair in_place[] = {{"y", "a"}};
  static constexpr std::size_t first_size = 40;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor a{arena.at(0), fp32, {2, 3, 20}};
  tensor b{arena.at(8192), fp32, {2, 1, 20}};
  tensor y{arena.at(16384), fp32, {2, 3, 20}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr, nullptr, 1, 1, TK_REPEAT_RUN, 0};

  std::vector<argument> arguments() { return {{"a", &a}, {"b", &b}, {"y", &y}}; }
  problem_type const* get() {
    problem.a = a.given;
    problem.b = b.given;
    problem.y = y.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_add(x, workspace, size, stream);
  }
};

}  // namespace scene
