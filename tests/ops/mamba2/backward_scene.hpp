// SPDX-License-Identifier: MIT
// Small correct problems of the backward, with the inputs of the forward's.
#pragma once
#include "ops/mamba2/mamba2_backward.h"
#include "tests/ops/mamba2/scene.hpp"

namespace scene {

struct mamba2_backward : mamba2_inputs {
  using problem_type = tk_mamba2_backward_problem;
  static constexpr tk_op op = TK_OP_MAMBA2_BACKWARD;
  static constexpr char const* call_name = "tk_mamba2_backward";
  static constexpr std::size_t first_size = offsetof(problem_type, repeat);
  static constexpr char const* outputs[] = {
      "dx", "ddt", "dA", "dB", "dC", "dD", "dz", "ddt_bias", "dinitial_state"};
  tensor dy{arena.at(at_y), bf16, of_tokens(2, 16)};
  tensor dx{arena.at(at_dx), bf16, of_tokens(2, 16)};
  tensor ddt{arena.at(at_ddt), fp32, of_tokens(2)};
  tensor dA{arena.at(at_dA), fp32, {2}};
  tensor dB{arena.at(at_dB), bf16, of_tokens(1, 16)};
  tensor dC{arena.at(at_dC), bf16, of_tokens(1, 16)};
  tensor dD{arena.at(at_dD), fp32, {2}};
  tensor dz{arena.at(at_dz), bf16, of_tokens(2, 16)};
  tensor ddt_bias{arena.at(at_dbias), fp32, {2}};
  tensor dfinal_state{arena.at(at_final), fp32, of_states()};
  tensor dinitial_state{arena.at(at_dinitial), fp32, of_states()};
  problem_type problem{};

  explicit mamba2_backward(bool is_packed = false) : mamba2_inputs(is_packed) {
    set_options(problem);
  }
  std::vector<argument> arguments() {
    auto all = inputs(dD.given, dz.given, ddt_bias.given);
    all.insert(all.end(), {{"dy", &dy},
                           {"dx", &dx},
                           {"ddt", &ddt, false, true},
                           {"dA", &dA, false, true},
                           {"dB", &dB},
                           {"dC", &dC},
                           {"dD", &dD, true, true},
                           {"dz", &dz, true},
                           {"ddt_bias", &ddt_bias, true, true},
                           {"dfinal_state", &dfinal_state, true},
                           {"dinitial_state", &dinitial_state, true}});
    return all;
  }
  problem_type const* get() {
    fill(problem);
    problem.dy = dy.given;
    problem.dx = dx.given;
    problem.ddt = ddt.given;
    problem.dA = dA.given;
    problem.dB = dB.given;
    problem.dC = dC.given;
    problem.dD = dD.given;
    problem.dz = dz.given;
    problem.ddt_bias = ddt_bias.given;
    problem.dfinal_state = dfinal_state.given;
    problem.dinitial_state = dinitial_state.given;
    return &problem;
  }
  static tk_status call(problem_type const* p, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_mamba2_backward(p, workspace, size, stream);
  }
};

}  // namespace scene
