// SPDX-License-Identifier: MIT
// Small correct problems, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/based/based.h"
#include "tests/support/packed_scene.hpp"

namespace scene {

inline constexpr std::size_t at_q = 0, at_k = 768, at_v = 1536, at_o = 2816, at_starts = 7424,
                             at_initial = 8192, at_final = 49152, at_initial_sums = 90112,
                             at_final_sums = 94208;
inline constexpr std::int64_t moments = 153;

// Two sequences of five tokens, two heads. Packed, the sequences have four tokens and six.
struct based_inputs {
  bool packed;
  memory arena{arena_bytes, arena_byte};
  tensor q{arena.at(at_q), bf16, of_tokens(16)};
  tensor k{arena.at(at_k), bf16, of_tokens(16)};
  tensor v{arena.at(at_v), bf16, of_tokens(16)};
  tensor initial_state{arena.at(at_initial), fp32, {2, 2, moments, 16}};
  tensor initial_sums{arena.at(at_initial_sums), fp32, {2, 2, moments}};
  tensor starts{arena.at(at_starts), int32, {3}};

  explicit based_inputs(bool is_packed) : packed(is_packed) {
    if (!packed) starts.given = nullptr;
    auto host = arena.content();
    std::int32_t const numbers[] = {0, 4, 10};
    std::memcpy(host.data() + at_starts, numbers, sizeof numbers);
    arena.write(host);
  }
  std::vector<std::int64_t> of_tokens(std::int64_t width) const {
    return packed ? std::vector<std::int64_t>{10, 2, width}
                  : std::vector<std::int64_t>{2, 5, 2, width};
  }
  std::vector<argument> inputs() {
    std::vector<argument> all{{"q", &q}, {"k", &k}, {"v", &v}};
    all.push_back({"initial_state", &initial_state, true});
    if (initial_sums.given) all.push_back({"initial_sums", &initial_sums, true});
    // Without starts it is a batch, and its ranks are wrong: that is no NULL pointer.
    if (starts.given) all.push_back({"starts", &starts, true});
    return all;
  }
  template <class Problem> void fill(Problem& problem) const {
    problem.q = q.given;
    problem.k = k.given;
    problem.v = v.given;
    problem.initial_state = initial_state.given;
    problem.initial_sums = initial_sums.given;
    problem.starts = starts.given;
  }
};

// Final ones may lie where initial ones do.
struct based : based_inputs {
  using problem_type = tk_based_problem;
  static constexpr tk_op op = TK_OP_BASED;
  static constexpr char const* call_name = "tk_based";
  static constexpr std::size_t first_size = offsetof(problem_type, repeat);
  static constexpr char const* outputs[] = {"o", "final_state", "final_sums"};
  static constexpr in_place_pair in_place[] = {{"final_state", "initial_state"},
                                               {"final_sums", "initial_sums"}};
  tensor o{arena.at(at_o), bf16, of_tokens(16)};
  tensor final_state{arena.at(at_final), fp32, {2, 2, moments, 16}};
  tensor final_sums{arena.at(at_final_sums), fp32, {2, 2, moments}};
  problem_type problem{};

  explicit based(bool is_packed = false) : based_inputs(is_packed) {
    problem.size = sizeof problem;
    problem.scale = 0.25f;
    problem.normalise = 1;
  }
  std::vector<argument> arguments() {
    auto all = inputs();
    all.insert(all.end(), {{"o", &o}, {"final_state", &final_state, true}});
    if (final_sums.given) all.push_back({"final_sums", &final_sums, true});
    return all;
  }
  problem_type const* get() {
    fill(problem);
    problem.o = o.given;
    problem.final_state = final_state.given;
    problem.final_sums = final_sums.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_based(x, workspace, size, stream);
  }
};

// The same without the normaliser.
template <class Scene> struct plain : Scene {
  plain() {
    this->problem.normalise = 0;
    this->initial_sums.given = this->final_sums.given = nullptr;
  }
};

}  // namespace scene
