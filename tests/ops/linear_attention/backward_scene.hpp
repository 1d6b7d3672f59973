// SPDX-License-Identifier: MIT
// Small correct problems of the backward, with the inputs of the forward's.
#pragma once
#include "ops/linear_attention/linear_attention_backward.h"
#include "tests/ops/linear_attention/scene.hpp"

namespace scene {

inline constexpr std::size_t at_dout = at_o, at_dq = 4096, at_dk = 4864, at_dv = 5632,
                             at_dfinal = at_final, at_dinitial = 24576, at_dlog_decay = 7552,
                             at_ddecay = 7808;

struct linear_attention_backward : linear_attention_inputs {
  using problem_type = tk_linear_attention_backward_problem;
  static constexpr tk_op op = TK_OP_LINEAR_ATTENTION_BACKWARD;
  static constexpr char const* call_name = "tk_linear_attention_backward";
  static constexpr std::size_t first_size = offsetof(problem_type, repeat);
  static constexpr char const* outputs[] = {"dq",         "dk",    "dv", "dinitial_state",
                                            "dlog_decay", "ddecay"};
  tensor dout{arena.at(at_dout), bf16, of_tokens(32)};
  tensor dq{arena.at(at_dq), bf16, of_tokens(16)};
  tensor dk{arena.at(at_dk), bf16, of_tokens(16)};
  tensor dv{arena.at(at_dv), bf16, of_tokens(32)};
  tensor dfinal_state{arena.at(at_dfinal), fp32, {2, 2, 16, 32}};
  tensor dinitial_state{arena.at(at_dinitial), fp32, {2, 2, 16, 32}};
  tensor dlog_decay{arena.at(at_dlog_decay), fp32, of_tokens()};
  tensor ddecay{arena.at(at_ddecay), fp32, {2}};
  problem_type problem{};

  explicit linear_attention_backward(bool is_packed = false) : linear_attention_inputs(is_packed) {
    ddecay.given = nullptr;
    problem.size = sizeof problem;
    problem.scale = 0.25f;
  }
  void decay_by_head() {
    linear_attention_inputs::decay_by_head();
    dlog_decay.given = nullptr;
    ddecay.given = &ddecay.dl;
  }
  std::vector<argument> arguments() {
    auto all = inputs();
    bool const wanted = dlog_decay.given || ddecay.given;
    for (auto& x : all)
      if (x.of == &log_decay || x.of == &decay) x.optional = !wanted;
    all.insert(all.end(), {{"dout", &dout},
                           {"dq", &dq},
                           {"dk", &dk},
                           {"dv", &dv},
                           {"dfinal_state", &dfinal_state, true},
                           {"dinitial_state", &dinitial_state, true}});
    if (dlog_decay.given) all.push_back({"dlog_decay", &dlog_decay, true, true});
    if (ddecay.given) all.push_back({"ddecay", &ddecay, true, true});
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
    problem.dlog_decay = dlog_decay.given;
    problem.ddecay = ddecay.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_linear_attention_backward(x, workspace, size, stream);
  }
};

}  // namespace scene
