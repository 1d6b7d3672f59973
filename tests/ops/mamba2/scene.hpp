// SPDX-License-Identifier: MIT
// Small correct problems, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>
#include <limits>

#include "ops/mamba2/mamba2.h"
#include "tests/support/packed_scene.hpp"

namespace scene {

inline constexpr std::size_t at_x = 0, at_z = 768, at_y = 1536, at_dx = 2304, at_dz = 3072,
                             at_B = 3840, at_C = 4352, at_dB = 4864, at_dC = 5376, at_dt = 5888,
                             at_ddt = 6144, at_A = 6400, at_D = 6464, at_bias = 6528, at_dA = 6592,
                             at_dD = 6656, at_dbias = 6720, at_starts = 6784, at_initial = 8192,
                             at_final = 12288, at_dinitial = 16384;

// What the forward and the backward are given: two sequences of five tokens, two heads of one
// group, p = s = 16. Packed, the sequences have four tokens and six.
struct mamba2_inputs {
  bool packed;
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(at_x), bf16, of_tokens(2, 16)};
  tensor dt{arena.at(at_dt), fp32, of_tokens(2)};
  tensor A{arena.at(at_A), fp32, {2}};
  tensor B{arena.at(at_B), bf16, of_tokens(1, 16)};
  tensor C{arena.at(at_C), bf16, of_tokens(1, 16)};
  tensor D{arena.at(at_D), fp32, {2}};
  tensor z{arena.at(at_z), bf16, of_tokens(2, 16)};
  tensor dt_bias{arena.at(at_bias), fp32, {2}};
  tensor initial_state{arena.at(at_initial), fp32, of_states()};
  tensor starts{arena.at(at_starts), int32, {3}};

  explicit mamba2_inputs(bool is_packed) : packed(is_packed) {
    if (!packed) starts.given = nullptr;
    auto host = arena.content();
    std::int32_t const numbers[] = {0, 4, 10};
    std::memcpy(host.data() + at_starts, numbers, sizeof numbers);
    arena.write(host);
  }
  std::vector<std::int64_t> of_tokens(std::int64_t heads, std::int64_t width = 0) const {
    auto sizes = packed ? std::vector<std::int64_t>{10} : std::vector<std::int64_t>{2, 5};
    sizes.push_back(heads);
    if (width) sizes.push_back(width);
    return sizes;
  }
  static std::vector<std::int64_t> of_states() { return {2, 2, 16, 16}; }
  // Those that another operand needs are no longer optional.
  std::vector<argument> inputs(bool D_needed = false, bool z_needed = false,
                               bool bias_needed = false) {
    std::vector<argument> all{{"x", &x},
                              {"dt", &dt, false, true},
                              {"A", &A, false, true},
                              {"B", &B},
                              {"C", &C},
                              {"D", &D, !D_needed, true},
                              {"z", &z, !z_needed},
                              {"dt_bias", &dt_bias, !bias_needed, true},
                              {"initial_state", &initial_state, true}};
    // Without starts it is a batch, and its ranks are wrong: that is no NULL pointer.
    if (starts.given) all.push_back({"starts", &starts, true});
    return all;
  }
  template <class Problem> void fill(Problem& problem) const {
    problem.x = x.given;
    problem.dt = dt.given;
    problem.A = A.given;
    problem.B = B.given;
    problem.C = C.given;
    problem.D = D.given;
    problem.z = z.given;
    problem.dt_bias = dt_bias.given;
    problem.initial_state = initial_state.given;
    problem.starts = starts.given;
  }
  template <class Problem> static void set_options(Problem& problem) {
    problem.size = sizeof problem;
    problem.dt_max = std::numeric_limits<float>::infinity();
  }
};

// final_state may lie where initial_state does.
struct mamba2 : mamba2_inputs {
  using problem_type = tk_mamba2_problem;
  static constexpr tk_op op = TK_OP_MAMBA2;
  static constexpr char const* call_name = "tk_mamba2";
  static constexpr std::size_t first_size = offsetof(problem_type, repeat);
  static constexpr char const* outputs[] = {"y", "final_state"};
  static constexpr in_place_pair in_place[] = {{"final_state", "initial_state"}};
  tensor y{arena.at(at_y), bf16, of_tokens(2, 16)};
  tensor final_state{arena.at(at_final), fp32, of_states()};
  problem_type problem{};

  explicit mamba2(bool is_packed = false) : mamba2_inputs(is_packed) { set_options(problem); }
  std::vector<argument> arguments() {
    auto all = inputs();
    all.insert(all.end(), {{"y", &y}, {"final_state", &final_state, true}});
    return all;
  }
  problem_type const* get() {
    fill(problem);
    problem.y = y.given;
    problem.final_state = final_state.given;
    return &problem;
  }
  static tk_status call(problem_type const* p, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_mamba2(p, workspace, size, stream);
  }
};

}  // namespace scene
