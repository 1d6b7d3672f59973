// SPDX-License-Identifier: MIT
// Small correct problems of the backward, whose every part a test may spoil before it makes the
// call.
#pragma once
#include "ops/based/based_backward.h"

#include "tests/ops/based/scene.hpp"

namespace scene {

inline constexpr std::size_t at_dout = 98304, at_dq = 99328, at_dk = 100352, at_dv = 101376,
                             at_dfinal_sums = 102400, at_dinitial_sums = 106496;

// dinitial_state lies where the forward has its final state, dfinal_state in memory of its own.
struct based_backward : based_inputs {
  using problem_type = tk_based_backward_problem;
  static constexpr tk_op op = TK_OP_BASED_BACKWARD;
  static constexpr char const* call_name = "tk_based_backward";
  static constexpr std::size_t first_size = offsetof(problem_type, repeat);
  static constexpr char const* outputs[] = {"dq", "dk", "dv", "dinitial_state", "dinitial_sums"};
  memory more{arena_bytes, arena_byte};
  tensor dout{arena.at(at_dout), bf16, of_tokens(16)};
  tensor dq{arena.at(at_dq), bf16, of_tokens(16)};
  tensor dk{arena.at(at_dk), bf16, of_tokens(16)};
  tensor dv{arena.at(at_dv), bf16, of_tokens(16)};
  tensor dfinal_state{more.at(), fp32, {2, 2, moments, 16}};
  tensor dinitial_state{arena.at(at_final), fp32, {2, 2, moments, 16}};
  tensor dfinal_sums{arena.at(at_dfinal_sums), fp32, {2, 2, moments}};
  tensor dinitial_sums{arena.at(at_dinitial_sums), fp32, {2, 2, moments}};
  problem_type problem{};

  explicit based_backward(bool is_packed = false) : based_inputs(is_packed) {
    problem.size = sizeof problem;
    problem.scale = 0.25f;
    problem.normalise = 1;
  }
  void without_normaliser() {
    problem.normalise = 0;
    initial_sums.given = dfinal_sums.given = dinitial_sums.given = nullptr;
  }
  std::vector<argument> arguments() {
    auto all = inputs();
    all.insert(all.end(), {{"dout", &dout}, {"dq", &dq}, {"dk", &dk}, {"dv", &dv}});
    all.push_back({"dfinal_state", &dfinal_state, true});
    all.push_back({"dinitial_state", &dinitial_state, true});
    if (dfinal_sums.given) all.push_back({"dfinal_sums", &dfinal_sums, true});
    if (dinitial_sums.given) all.push_back({"dinitial_sums", &dinitial_sums, true});
    return all;
  }
  problem_type const* get() {
    fill(problem);
    problem.dout = dout.given;
    problem.dq = dq.given;
    problem.dk = dk.given;
    problem.dv = dv.given;
    problem.dfinal_state = dfinal_state.given;
    problem.dinitial_state = dinitial_state.given;
    problem.dfinal_sums = dfinal_sums.given;
    problem.dinitial_sums = dinitial_sums.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_based_backward(x, workspace, size, stream);
  }
};

}  // namespace scene
