// SPDX-License-Identifier: MIT
// Small correct problems of the backward, with the inputs of the forward's.
#pragma once
#include "ops/fft_conv/fft_conv_backward.h"
#include "tests/ops/fft_conv/scene.hpp"

namespace scene {

struct fft_conv_backward : fft_conv_inputs {
  using problem_type = tk_fft_conv_backward_problem;
  static constexpr tk_op op = TK_OP_FFT_CONV_BACKWARD;
  static constexpr char const* call_name = "tk_fft_conv_backward";
  static constexpr char const* outputs[] = {"du", "dk", "dpre", "dpost"};
  static constexpr std::size_t first_size = 88;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 96);
  tensor dy{arena.at(at_dy), bf16, {2, 2, 20}};
  tensor du{arena.at(at_du), bf16, {2, 2, 20}};
  tensor dk{arena.at(at_dk), fp32, {2, 7}};
  tensor dpre{arena.at(at_dpre), bf16, {2, 2, 20}};
  tensor dpost{arena.at(at_dpost), bf16, {2, 2, 20}};
  problem_type problem{};

  fft_conv_backward() { problem.size = sizeof problem; }
  std::vector<argument> arguments() {
    auto all = inputs();
    all.insert(all.end(), {{"dy", &dy},
                           {"du", &du, true},
                           {"dk", &dk, true},
                           {"dpre", &dpre, true},
                           {"dpost", &dpost, true}});
    return all;
  }
  std::vector<tensor*> sequences() { return {&u, &pre, &post, &dy, &du, &dpre, &dpost}; }
  problem_type const* get() {
    fill(problem);
    problem.dy = dy.given;
    problem.du = du.given;
    problem.dk = dk.given;
    problem.dpre = dpre.given;
    problem.dpost = dpost.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_fft_conv_backward(x, workspace, size, stream);
  }
};

}  // namespace scene
