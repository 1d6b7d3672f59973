// SPDX-License-Identifier: MIT
// Small correct problems of conv1d, whose every part a test may spoil before it makes the call: two
// sequences of three tokens, and the same six tokens packed.
#pragma once
#include <cstddef>

#include "ops/conv1d/conv1d.h"
#include "tests/support/scene.hpp"

namespace scene {

struct conv1d {
  using problem_type = tk_conv1d_problem;
  static constexpr tk_op op = TK_OP_CONV1D;
  static constexpr char const* call_name = "tk_conv1d";
  static constexpr char const* outputs[] = {"y", "final_state"};
  static constexpr in_place_pair in_place[] = {{"final_state", "initial_state"}};
  static constexpr std::size_t first_size = 72;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 80);
  static constexpr std::size_t at_x = 0, at_weight = 4096, at_bias = 8192, at_y = 12288,
                               at_initial = 16384, at_final = 20480, at_starts = 24576;
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(at_x), fp32, {2, 3, 20}};
  tensor weight{arena.at(at_weight), fp32, {20, 4}};
  tensor bias{arena.at(at_bias), fp32, {20}};
  tensor y{arena.at(at_y), fp32, {2, 3, 20}};
  tensor initial{arena.at(at_initial), fp32, {2, 3, 20}};
  tensor final{arena.at(at_final), fp32, {2, 3, 20}};
  tensor starts{arena.at(at_starts), int32, {3}};
  problem_type problem{};

  conv1d() {
    problem.size = sizeof problem;
    starts.given = nullptr;
  }
  std::vector<argument> arguments() {
    std::vector<argument> all{{"x", &x}, {"weight", &weight}, {"bias", &bias, true}, {"y", &y}};
    for (argument const& more :
         {argument{"initial_state", &initial, true}, argument{"final_state", &final, true},
          argument{"starts", &starts, true}})
      if (more.of->given) all.push_back(more);
    return all;
  }
  std::vector<tensor*> tokens() { return {&x, &y}; }
  std::vector<tensor*> states() { return {&initial, &final}; }
  std::vector<tensor*> typed() { return {&x, &y, &initial, &final}; }
  problem_type const* get() {
    problem.x = x.given;
    problem.weight = weight.given;
    problem.bias = bias.given;
    problem.y = y.given;
    problem.initial_state = initial.given;
    problem.final_state = final.given;
    problem.starts = starts.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_conv1d(x, workspace, size, stream);
  }
};

// [1, 6, 20]; what starts holds, two sequences, is read by the launch alone.
struct conv1d_packed : conv1d {
  conv1d_packed() {
    starts.given = &starts.dl;
    for (auto* t : tokens()) t->shape = {1, 6, 20}, t->strides = {120, 20, 1};
    bytes host(arena_bytes, arena_byte);
    for (std::size_t s = 0; s < 3; ++s)
      put_int32(host, at_starts + 4 * s, static_cast<std::int32_t>(3 * s));
    arena.write(host);
  }
};

}  // namespace scene
