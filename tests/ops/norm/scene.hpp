// SPDX-License-Identifier: MIT
// A small correct problem of the op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/norm/norm.h"
#include "tests/support/scene.hpp"

namespace scene {

struct norm {
  using problem_type = tk_norm_problem;
  static constexpr tk_op op = TK_OP_NORM;
  static constexpr char const* call_name = "tk_norm";
  static constexpr char const* outputs[] = {"y", "r"};
  static constexpr in_place_pair in_place[] = {
      {"y", "x"}, {"y", "residual"}, {"r", "x"}, {"r", "residual"}};
  static constexpr std::size_t first_size = 64;  // of the struct's first version
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(0), fp32, {2, 20}};
  tensor residual{arena.at(4096), fp32, {2, 20}};
  tensor weight{arena.at(8192), fp32, {20}};
  tensor bias{arena.at(12288), fp32, {20}};
  tensor y{arena.at(16384), fp32, {2, 20}};
  tensor r{arena.at(20480), fp32, {2, 20}};
  tensor random_state{arena.at(24576), uint64, {2}};
  tensor y_scale{arena.at(28672), fp32, {2}};  // not given here
  problem_type problem{};
  norm() {
    problem.size = sizeof problem;
    problem.eps = 0.25f;
    y_scale.given = nullptr;
  }

  std::vector<argument> arguments() {
    return {{"x", &x},
            {"residual", &residual, true},
            {"weight", &weight, true},
            {"bias", &bias, true},
            {.name = "y", .of = &y, .takes_fp8 = true},
            {"r", &r, true},
            {"random_state", &random_state, true}};
  }
  problem_type const* get() {
    problem.x = x.given;
    problem.residual = residual.given;
    problem.weight = weight.given;
    problem.bias = bias.given;
    problem.y = y.given;
    problem.r = r.given;
    problem.random_state = random_state.given;
    problem.y_scale = y_scale.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_norm(x, workspace, size, stream);
  }
};

// y of fp8 with a scale for each row.
struct norm_fp8 : norm {
  static constexpr char const* outputs[] = {"y", "r", "y_scale"};
  static constexpr in_place_pair in_place[] = {{"r", "x"}, {"r", "residual"}};
  norm_fp8() {
    for (auto* t : {&x, &residual, &weight, &bias, &r}) t->dl.dtype = bf16;
    y.dl.dtype = fp8_e4m3;
    y_scale.given = &y_scale.dl;
  }
  std::vector<argument> arguments() {
    auto all = norm::arguments();
    all[4] = {.name = "y", .of = &y, .is_fp8 = true};
    all.push_back({"y_scale", &y_scale, false, true});
    return all;
  }
};
// And with one that is given.
struct norm_fp8_given : norm_fp8 {
  static constexpr char const* outputs[] = {"y", "r"};
  norm_fp8_given() {
    problem.y_scale_kind = TK_SCALE_GIVEN;
    y_scale.shape[0] = 1;
  }
};

}  // namespace scene
