// SPDX-License-Identifier: MIT
// Small correct problems, whose every part a test may spoil before it makes the call: two sequences
// of 20 elements, of two channels with a filter of seven taps each, and gates.
#pragma once
#include <cstddef>

#include "ops/fft_conv/fft_conv.h"
#include "tests/support/scene.hpp"

namespace scene {

inline constexpr std::size_t at_u = 0, at_pre = 1024, at_post = 2048, at_k = 3072, at_y = 4096,
                             at_dy = 5120, at_du = 6144, at_dk = 7168, at_dpre = 8192,
                             at_dpost = 9216;

struct fft_conv_inputs {
  memory arena{arena_bytes, arena_byte};
  tensor u{arena.at(at_u), bf16, {2, 2, 20}};
  tensor k{arena.at(at_k), fp32, {2, 7}};
  tensor pre{arena.at(at_pre), bf16, {2, 2, 20}};
  tensor post{arena.at(at_post), bf16, {2, 2, 20}};

  std::vector<argument> inputs() {
    return {{"u", &u}, {"k", &k}, {"pre", &pre, true}, {"post", &post, true}};
  }
  template <class Problem> void fill(Problem& problem) const {
    problem.u = u.given;
    problem.k = k.given;
    problem.pre = pre.given;
    problem.post = post.given;
  }
};

struct fft_conv : fft_conv_inputs {
  using problem_type = tk_fft_conv_problem;
  static constexpr tk_op op = TK_OP_FFT_CONV;
  static constexpr char const* call_name = "tk_fft_conv";
  static constexpr char const* outputs[] = {"y"};
  static constexpr std::size_t first_size = 56;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 64);
  tensor y{arena.at(at_y), bf16, {2, 2, 20}};
  problem_type problem{};

  fft_conv() { problem.size = sizeof problem; }
  std::vector<argument> arguments() {
    auto all = inputs();
    all.push_back({"y", &y});
    return all;
  }
  std::vector<tensor*> sequences() { return {&u, &pre, &post, &y}; }
  problem_type const* get() {
    fill(problem);
    problem.y = y.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_fft_conv(x, workspace, size, stream);
  }
};

}  // namespace scene
