// SPDX-License-Identifier: MIT
// A small correct problem of each op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/softmax/softmax.h"
#include "ops/softmax/softmax_backward.h"
#include "tests/support/scene.hpp"

namespace scene {

struct softmax {
  using problem_type = tk_softmax_problem;
  static constexpr tk_op op = TK_OP_SOFTMAX;
  static constexpr char const* call_name = "tk_softmax";
  static constexpr char const* outputs[] = {"y"};
  static constexpr in_place_pair in_place[] = {{"y", "x"}};
  static constexpr std::size_t first_size = 40;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(0), fp32, {2, 3, 20}};
  tensor bias{arena.at(8192), fp32, {2, 1, 20}};
  tensor y{arena.at(16384), fp32, {2, 3, 20}};
  tensor bool_mask{arena.at(24576), boolean, {2, 1, 20}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr, nullptr, TK_MASK_NONE, 1,
                       TK_REPEAT_RUN,        0,       nullptr};

  std::vector<argument> arguments() {
    return {{"x", &x},
            {"bias", &bias, true},
            {"y", &y},
            {.name = "bool_mask", .of = &bool_mask, .optional = true, .is_boolean = true}};
  }
  problem_type const* get() {
    problem.x = x.given;
    problem.bias = bias.given;
    problem.y = y.given;
    problem.bool_mask = bool_mask.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_softmax(x, workspace, size, stream);
  }
};

// All is seen.
struct unmasked_softmax : softmax {
  unmasked_softmax() { bool_mask.given = nullptr; }
};

struct softmax_backward {
  using problem_type = tk_softmax_backward_problem;
  static constexpr tk_op op = TK_OP_SOFTMAX_BACKWARD;
  static constexpr char const* call_name = "tk_softmax_backward";
  static constexpr char const* outputs[] = {"dx", "dbias"};
  static constexpr in_place_pair in_place[] = {
      {"dx", "y"}, {"dx", "dy"}, {"dbias", "y"}, {"dbias", "dy"}};
  static constexpr std::size_t first_size = 48;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor y{arena.at(0), fp32, {2, 3, 20}};
  tensor dy{arena.at(8192), fp32, {2, 3, 20}};
  tensor dx{arena.at(16384), fp32, {2, 3, 20}};
  tensor dbias{arena.at(20480), fp32, {2, 3, 20}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr,       nullptr, nullptr,
                       TK_MASK_NONE,         1,       TK_REPEAT_RUN, 0};

  std::vector<argument> arguments() {
    return {{"y", &y}, {"dy", &dy}, {"dx", &dx}, {"dbias", &dbias, true}};
  }
  std::vector<tensor*> all() { return {&y, &dy, &dx, &dbias}; }
  problem_type const* get() {
    problem.y = y.given;
    problem.dy = dy.given;
    problem.dx = dx.given;
    problem.dbias = dbias.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_softmax_backward(x, workspace, size, stream);
  }
};

}  // namespace scene
