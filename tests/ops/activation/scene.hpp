// SPDX-License-Identifier: MIT
// A small correct problem of each op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/activation/activation.h"
#include "ops/activation/activation_backward.h"
#include "tests/support/scene.hpp"

namespace scene {

struct activation {
  using problem_type = tk_activation_problem;
  static constexpr tk_op op = TK_OP_ACTIVATION;
  static constexpr char const* call_name = "tk_activation";
  static constexpr char const* outputs[] = {"y"};
  static constexpr in_place_pair in_place[] = {{"y", "a"}, {"y", "b"}};
  static constexpr std::size_t first_size = 40;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor a{arena.at(0), fp32, {2, 3, 20}};
  tensor b{arena.at(8192), fp32, {2, 3, 20}};
  tensor y{arena.at(16384), fp32, {2, 3, 20}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr, nullptr, TK_ACTIVATION_SILU, 0,
                       TK_REPEAT_RUN,        0,       0,       0};

  std::vector<argument> arguments() { return {{"a", &a}, {"b", &b, true}, {"y", &y}}; }
  std::vector<tensor*> all() { return {&a, &b, &y}; }
  problem_type const* get() {
    problem.a = a.given;
    problem.b = b.given;
    problem.y = y.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_activation(x, workspace, size, stream);
  }
};

// a and b take turns in one tensor of bf16.
struct interleaved_activation : activation {
  static constexpr std::array<in_place_pair, 0> in_place{};
  interleaved_activation() {
    for (auto* t : {&a, &y}) t->dl.dtype = bf16;
    b.given = nullptr;
    problem.interleaved = 1;
    a.shape[2] = 40;
    a.strides = {120, 40, 1};
  }
  std::vector<argument> arguments() { return {{"a", &a}, {"y", &y}}; }
};

// b is optional where db is not given: see the refusals.
struct activation_backward {
  using problem_type = tk_activation_backward_problem;
  static constexpr tk_op op = TK_OP_ACTIVATION_BACKWARD;
  static constexpr char const* call_name = "tk_activation_backward";
  static constexpr char const* outputs[] = {"da", "db"};
  static constexpr in_place_pair in_place[] = {{"da", "a"}, {"da", "b"}, {"da", "dy"},
                                               {"db", "a"}, {"db", "b"}, {"db", "dy"}};
  static constexpr std::size_t first_size = 56;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor a{arena.at(0), fp32, {2, 3, 20}};
  tensor b{arena.at(4096), fp32, {2, 3, 20}};
  tensor dy{arena.at(8192), fp32, {2, 3, 20}};
  tensor da{arena.at(16384), fp32, {2, 3, 20}};
  tensor db{arena.at(20480), fp32, {2, 3, 20}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr,       nullptr, nullptr, nullptr,
                       TK_ACTIVATION_SILU,   0,       TK_REPEAT_RUN, 0,       0,       0};

  std::vector<argument> arguments() {
    return {{"a", &a}, {"b", &b}, {"dy", &dy}, {"da", &da, true}, {"db", &db, true}};
  }
  std::vector<tensor*> all() { return {&a, &b, &dy, &da, &db}; }
  problem_type const* get() {
    problem.a = a.given;
    problem.b = b.given;
    problem.dy = dy.given;
    problem.da = da.given;
    problem.db = db.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_activation_backward(x, workspace, size, stream);
  }
};

struct interleaved_activation_backward : activation_backward {
  static constexpr in_place_pair in_place[] = {{"da", "a"}};
  interleaved_activation_backward() {
    for (auto* t : {&a, &dy, &da}) t->dl.dtype = bf16;
    b.given = db.given = nullptr;
    problem.interleaved = 1;
    for (auto* t : {&a, &da}) {
      t->shape[2] = 40;
      t->strides = {120, 40, 1};
    }
  }
  std::vector<argument> arguments() { return {{"a", &a}, {"dy", &dy}, {"da", &da}}; }
};

}  // namespace scene
