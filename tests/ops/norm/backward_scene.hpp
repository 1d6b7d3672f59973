// SPDX-License-Identifier: MIT
// A small correct problem of the op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/norm/norm_backward.h"
#include "tests/support/scene.hpp"

namespace scene {

struct norm_backward {
  using problem_type = tk_norm_backward_problem;
  static constexpr tk_op op = TK_OP_NORM_BACKWARD;
  static constexpr char const* call_name = "tk_norm_backward";
  static constexpr char const* outputs[] = {"dx", "dresidual", "dweight", "dbias"};
  static constexpr in_place_pair in_place[] = {{"dx", "r"},         {"dx", "dy"},
                                               {"dx", "dr"},        {"dresidual", "r"},
                                               {"dresidual", "dy"}, {"dresidual", "dr"}};
  static constexpr std::size_t first_size = 72;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size);
  static constexpr std::size_t at_r = 0, at_dy = 4096, at_weight = 8192, at_dr = 12288,
                               at_dx = 16384, at_dweight = 20480, at_dbias = 22528,
                               at_dresidual = 24576, at_random_state = 30720;
  memory arena{arena_bytes, arena_byte};
  tensor r{arena.at(at_r), fp32, {2, 3, 20}};
  tensor dy{arena.at(at_dy), fp32, {2, 3, 20}};
  tensor weight{arena.at(at_weight), fp32, {20}};
  tensor dr{arena.at(at_dr), fp32, {2, 3, 20}};
  tensor dx{arena.at(at_dx), fp32, {2, 3, 20}};
  tensor dweight{arena.at(at_dweight), fp32, {20}};
  tensor dbias{arena.at(at_dbias), fp32, {20}};
  tensor dresidual{arena.at(at_dresidual), fp32, {2, 3, 20}};
  tensor random_state{arena.at(at_random_state), uint64, {2}};
  problem_type problem{};
  norm_backward() {
    problem.size = sizeof problem;
    problem.eps = 0.25f;
  }

  std::vector<argument> arguments() {
    return {{"r", &r},
            {"dy", &dy},
            {"weight", &weight, true},
            {"dr", &dr, true},
            {"dx", &dx},
            {"dweight", &dweight, true},
            {"dbias", &dbias, true},
            {"dresidual", &dresidual, true},
            {"random_state", &random_state, true}};
  }
  std::vector<tensor*> rows() { return {&r, &dy, &dr, &dx, &dresidual}; }
  std::vector<tensor*> columns() { return {&weight, &dweight, &dbias}; }
  problem_type const* get() {
    problem.r = r.given;
    problem.dy = dy.given;
    problem.weight = weight.given;
    problem.dr = dr.given;
    problem.dx = dx.given;
    problem.dweight = dweight.given;
    problem.dbias = dbias.given;
    problem.dresidual = dresidual.given;
    problem.random_state = random_state.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_norm_backward(x, workspace, size, stream);
  }
};

}  // namespace scene
