// SPDX-License-Identifier: MIT
// Small correct problems, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/linear_attention/linear_attention.h"
#include "tests/support/packed_scene.hpp"

namespace scene {

inline constexpr std::size_t at_q = 0, at_k = 768, at_v = 1536, at_o = 2816, at_log_decay = 6912,
                             at_decay = 7168, at_starts = 7424, at_initial = 8192, at_final = 16384;

// What the forward and the backward are given: two sequences of five tokens, two heads, a decay of
// each token. Packed, the sequences have four tokens and six.
struct linear_attention_inputs {
  bool packed;
  memory arena{arena_bytes, arena_byte};
  tensor q{arena.at(at_q), bf16, of_tokens(16)};
  tensor k{arena.at(at_k), bf16, of_tokens(16)};
  tensor v{arena.at(at_v), bf16, of_tokens(32)};
  tensor log_decay{arena.at(at_log_decay), fp32, of_tokens()};
  tensor decay{arena.at(at_decay), fp32, {2}};
  tensor initial_state{arena.at(at_initial), fp32, {2, 2, 16, 32}};
  tensor starts{arena.at(at_starts), int32, {3}};

  explicit linear_attention_inputs(bool is_packed) : packed(is_packed) {
    decay.given = nullptr;
    if (!packed) starts.given = nullptr;
    auto host = arena.content();
    std::int32_t const numbers[] = {0, 4, 10};
    std::memcpy(host.data() + at_starts, numbers, sizeof numbers);
    arena.write(host);
  }
  std::vector<std::int64_t> of_tokens(std::int64_t width = 0) const {
    auto sizes = packed ? std::vector<std::int64_t>{10, 2} : std::vector<std::int64_t>{2, 5, 2};
    if (width) sizes.push_back(width);
    return sizes;
  }
  void decay_by_head() {
    log_decay.given = nullptr;
    decay.given = &decay.dl;
  }
  std::vector<argument> inputs() {
    std::vector<argument> all{{"q", &q}, {"k", &k}, {"v", &v}};
    if (log_decay.given) all.push_back({"log_decay", &log_decay, true, true});
    if (decay.given) all.push_back({"decay", &decay, true, true});
    all.push_back({"initial_state", &initial_state, true});
    // Without starts it is a batch, and its ranks are wrong: that is no NULL pointer.
    if (starts.given) all.push_back({"starts", &starts, true});
    return all;
  }
  template <class Problem> void fill(Problem& problem) const {
    problem.q = q.given;
    problem.k = k.given;
    problem.v = v.given;
    problem.log_decay = log_decay.given;
    problem.decay = decay.given;
    problem.initial_state = initial_state.given;
    problem.starts = starts.given;
  }
};

// final_state may lie where initial_state does.
struct linear_attention : linear_attention_inputs {
  using problem_type = tk_linear_attention_problem;
  static constexpr tk_op op = TK_OP_LINEAR_ATTENTION;
  static constexpr char const* call_name = "tk_linear_attention";
  static constexpr std::size_t first_size = offsetof(problem_type, repeat);
  static constexpr char const* outputs[] = {"o", "final_state"};
  static constexpr in_place_pair in_place[] = {{"final_state", "initial_state"}};
  tensor o{arena.at(at_o), bf16, of_tokens(32)};
  tensor final_state{arena.at(at_final), fp32, {2, 2, 16, 32}};
  problem_type problem{};

  explicit linear_attention(bool is_packed = false) : linear_attention_inputs(is_packed) {
    problem.size = sizeof problem;
    problem.scale = 0.25f;
  }
  std::vector<argument> arguments() {
    auto all = inputs();
    all.insert(all.end(), {{"o", &o}, {"final_state", &final_state, true}});
    return all;
  }
  problem_type const* get() {
    fill(problem);
    problem.o = o.given;
    problem.final_state = final_state.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_linear_attention(x, workspace, size, stream);
  }
};

// The same with a decay of each head.
template <class Scene> struct by_head : Scene {
  by_head() { this->decay_by_head(); }
};

}  // namespace scene
