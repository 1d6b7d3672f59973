// SPDX-License-Identifier: MIT
// A small correct problem, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/rotary/rotary.h"
#include "tests/support/scene.hpp"

namespace scene {

inline constexpr std::size_t at_q = 0, at_k = 2048, at_cos = 4096, at_sin = 5120,
                             at_positions = 6144, at_offsets = 7168, at_q_out = 8192,
                             at_k_out = 12288;

// Tokens in their order: two sequences of three, two heads of q and one of k, two columns past the
// pairs.
struct rotary {
  using problem_type = tk_rotary_problem;
  static constexpr tk_op op = TK_OP_ROTARY;
  static constexpr char const* call_name = "tk_rotary";
  static constexpr char const* outputs[] = {"q_out", "k_out"};
  static constexpr in_place_pair in_place[] = {{"q_out", "q"}, {"k_out", "k"}};
  static constexpr std::size_t first_size = 80;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 88);
  memory arena{arena_bytes, arena_byte};
  tensor q{arena.at(at_q), fp32, {2, 3, 2, 10}};
  tensor k{arena.at(at_k), fp32, {2, 3, 1, 10}};
  tensor cos{arena.at(at_cos), fp32, {5, 4}};
  tensor sin{arena.at(at_sin), fp32, {5, 4}};
  tensor positions{arena.at(at_positions), int32, {2, 3}};
  tensor offsets{arena.at(at_offsets), int32, {2}};
  tensor q_out{arena.at(at_q_out), fp32, {2, 3, 2, 10}};
  tensor k_out{arena.at(at_k_out), fp32, {2, 3, 1, 10}};
  problem_type problem{};

  rotary() {
    problem.size = sizeof problem;
    positions.given = offsets.given = nullptr;
  }
  std::vector<argument> arguments() {
    std::vector<argument> all{{"q", &q},     {"k", &k},         {"cos", &cos},
                              {"sin", &sin}, {"q_out", &q_out}, {"k_out", &k_out}};
    if (positions.given) all.push_back({"positions", &positions, true, true});
    if (offsets.given) all.push_back({"offsets", &offsets, true, true});
    return all;
  }
  std::vector<tensor*> heads() { return {&q, &k, &q_out, &k_out}; }
  problem_type const* get() {
    problem.q = q.given;
    problem.k = k.given;
    problem.cos = cos.given;
    problem.sin = sin.given;
    problem.positions = positions.given;
    problem.offsets = offsets.given;
    problem.q_out = q_out.given;
    problem.k_out = k_out.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_rotary(x, workspace, size, stream);
  }
};

// The same with positions, and with offsets.
struct rotary_at_positions : rotary {
  rotary_at_positions() { positions.given = &positions.dl; }
};
struct rotary_at_offsets : rotary {
  rotary_at_offsets() { offsets.given = &offsets.dl; }
};

}  // namespace scene
