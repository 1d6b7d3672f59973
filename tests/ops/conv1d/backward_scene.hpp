// SPDX-License-Identifier: MIT
// Small correct problems of conv1d's backward, whose every part a test may spoil before it makes
// the call: two sequences of three tokens, and the same six tokens packed.
#pragma once
#include <cstddef>

#include "ops/conv1d/conv1d_backward.h"
#include "tests/support/scene.hpp"

namespace scene {

struct conv1d_backward {
  using problem_type = tk_conv1d_backward_problem;
  static constexpr tk_op op = TK_OP_CONV1D_BACKWARD;
  static constexpr char const* call_name = "tk_conv1d_backward";
  static constexpr char const* outputs[] = {"dx", "dweight", "dbias", "dinitial_state"};
  static constexpr std::size_t first_size = 104;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 112);
  static constexpr std::size_t at_x = 0, at_weight = 2048, at_bias = 4096, at_dy = 6144,
                               at_initial = 8192, at_dfinal = 10240, at_starts = 12288,
                               at_dx = 14336, at_dweight = 16384, at_dbias = 18432,
                               at_dinitial = 20480;
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(at_x), fp32, {2, 3, 20}};
  tensor weight{arena.at(at_weight), fp32, {20, 4}};
  tensor bias{arena.at(at_bias), fp32, {20}};
  tensor dy{arena.at(at_dy), fp32, {2, 3, 20}};
  tensor initial{arena.at(at_initial), fp32, {2, 3, 20}};
  tensor dfinal{arena.at(at_dfinal), fp32, {2, 3, 20}};
  tensor starts{arena.at(at_starts), int32, {3}};
  tensor dx{arena.at(at_dx), fp32, {2, 3, 20}};
  tensor dweight{arena.at(at_dweight), fp32, {20, 4}};
  tensor dbias{arena.at(at_dbias), fp32, {20}};
  tensor dinitial{arena.at(at_dinitial), fp32, {2, 3, 20}};
  problem_type problem{};

  conv1d_backward() {
    problem.size = sizeof problem;
    starts.given = nullptr;
  }
  std::vector<argument> arguments() {
    std::vector<argument> all{{"x", &x},
                              {"weight", &weight},
                              {"bias", &bias, true},
                              {"dy", &dy},
                              {"initial_state", &initial, true},
                              {"dfinal_state", &dfinal, true},
                              {"dx", &dx},
                              {"dweight", &dweight, true},
                              {"dbias", &dbias, true},
                              {"dinitial_state", &dinitial, true}};
    if (starts.given) all.push_back({"starts", &starts, true});
    return all;
  }
  std::vector<tensor*> tokens() { return {&x, &dy, &dx}; }
  std::vector<tensor*> states() { return {&initial, &dfinal, &dinitial}; }
  std::vector<tensor*> typed() { return {&x, &dy, &dx, &initial, &dfinal, &dinitial}; }
  problem_type const* get() {
    problem.x = x.given;
    problem.weight = weight.given;
    problem.bias = bias.given;
    problem.dy = dy.given;
    problem.initial_state = initial.given;
    problem.dfinal_state = dfinal.given;
    problem.starts = starts.given;
    problem.dx = dx.given;
    problem.dweight = dweight.given;
    problem.dbias = dbias.given;
    problem.dinitial_state = dinitial.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_conv1d_backward(x, workspace, size, stream);
  }
};

// [1, 6, 20]; what starts holds, two sequences, is read by the launch alone.
struct conv1d_backward_packed : conv1d_backward {
  conv1d_backward_packed() {
    starts.given = &starts.dl;
    for (auto* t : tokens()) t->shape = {1, 6, 20}, t->strides = {120, 20, 1};
    bytes host(arena_bytes, arena_byte);
    for (std::size_t s = 0; s < 3; ++s)
      put_int32(host, at_starts + 4 * s, static_cast<std::int32_t>(3 * s));
    arena.write(host);
  }
};

}  // namespace scene
