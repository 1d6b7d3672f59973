// SPDX-License-Identifier: MIT
// A small correct problem, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/hedgehog/hedgehog.h"
#include "tests/support/packed_scene.hpp"

namespace scene {

// Two sequences, two heads; three queries behind two other keys, of which the second sequence lacks
// one. Packed, the sequences have two queries of four keys and four of six.
struct hedgehog {
  using problem_type = tk_hedgehog_problem;
  static constexpr tk_op op = TK_OP_HEDGEHOG;
  static constexpr char const* call_name = "tk_hedgehog";
  static constexpr std::size_t first_size = offsetof(problem_type, repeat);
  static constexpr char const* outputs[] = {"o", "final_kv", "final_k", "normaliser"};
  static constexpr in_place_pair in_place[] = {{"final_kv", "initial_kv"},
                                               {"final_k", "initial_k"}};
  static constexpr std::size_t at_q = 0, at_k = 4096, at_v = 10240, at_o = 16384, at_alpha = 20480,
                               at_beta = 20992, at_starts = 32768, at_key_starts = 33024,
                               at_lengths = 33280, at_normaliser = 33536, at_initial_k = 34816,
                               at_final_k = 36864, at_map_q = 1 << 16, at_map_k = 3 << 15,
                               at_initial_kv = 1 << 18, at_final_kv = 1 << 19,
                               bytes_of_all = at_final_kv + (1 << 18), bytes_of_kv = 1 << 18,
                               bytes_of_k = 2048, bytes_of_o = 3072;

  bool packed;
  memory arena{bytes_of_all, arena_byte};
  tensor q{arena.at(at_q), bf16, of_tokens(3, 6)};
  tensor k{arena.at(at_k), bf16, of_tokens(5, 10)};
  tensor v{arena.at(at_v), bf16, of_tokens(5, 10)};
  tensor map_q{arena.at(at_map_q), bf16, {2, 128, 64}};
  tensor map_k{arena.at(at_map_k), bf16, {2, 128, 64}};
  tensor alpha{arena.at(at_alpha), fp32, {2}};
  tensor beta{arena.at(at_beta), fp32, {2}};
  tensor initial_kv{arena.at(at_initial_kv), fp32, {2, 2, 128, 128}};
  tensor initial_k{arena.at(at_initial_k), fp32, {2, 2, 128}};
  tensor starts{arena.at(at_starts), int32, {3}};
  tensor key_starts{arena.at(at_key_starts), int32, {3}};
  tensor lengths{arena.at(at_lengths), int32, {2}};
  tensor o{arena.at(at_o), bf16, of_tokens(3, 6)};
  tensor normaliser{arena.at(at_normaliser), fp32,
                    packed ? std::vector<std::int64_t>{2, 6} : std::vector<std::int64_t>{2, 2, 3}};
  tensor final_kv{arena.at(at_final_kv), fp32, {2, 2, 128, 128}};
  tensor final_k{arena.at(at_final_k), fp32, {2, 2, 128}};
  problem_type problem{};

  explicit hedgehog(bool is_packed = false) : packed(is_packed) {
    problem.size = sizeof problem;
    problem.scale = 0.25f;
    if (packed) lengths.given = nullptr;
    else starts.given = key_starts.given = nullptr;
    auto host = arena.content();
    std::int32_t const numbers[] = {0, 2, 6}, of_keys[] = {0, 4, 10}, of_each[] = {5, 4};
    std::memcpy(host.data() + at_starts, numbers, sizeof numbers);
    std::memcpy(host.data() + at_key_starts, of_keys, sizeof of_keys);
    std::memcpy(host.data() + at_lengths, of_each, sizeof of_each);
    arena.write(host);
  }
  std::vector<std::int64_t> of_tokens(std::int64_t n, std::int64_t total) const {
    return packed ? std::vector<std::int64_t>{total, 2, 128}
                  : std::vector<std::int64_t>{2, n, 2, 128};
  }
  std::vector<argument> arguments() {
    std::vector<argument> all{{"q", &q},
                              {"k", &k},
                              {"v", &v},
                              {"map_q", &map_q},
                              {"map_k", &map_k},
                              {"alpha", &alpha, false, true},
                              {"beta", &beta, false, true},
                              {"initial_kv", &initial_kv},
                              {"initial_k", &initial_k}};
    // Without starts it is a batch, and its ranks are wrong: that is no NULL pointer.
    if (starts.given) all.push_back({"starts", &starts, true});
    if (key_starts.given) all.push_back({"key_starts", &key_starts, true});
    if (lengths.given) all.push_back({"lengths", &lengths, true});
    all.insert(all.end(), {{"o", &o},
                           {"final_kv", &final_kv},
                           {"final_k", &final_k},
                           {"normaliser", &normaliser, true}});
    return all;
  }
  problem_type const* get() {
    problem.q = q.given, problem.k = k.given, problem.v = v.given, problem.o = o.given;
    problem.map_q = map_q.given, problem.map_k = map_k.given;
    problem.alpha = alpha.given, problem.beta = beta.given;
    problem.initial_kv = initial_kv.given, problem.initial_k = initial_k.given;
    problem.final_kv = final_kv.given, problem.final_k = final_k.given;
    problem.starts = starts.given, problem.key_starts = key_starts.given;
    problem.lengths = lengths.given;
    problem.normaliser = normaliser.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_hedgehog(x, workspace, size, stream);
  }
};

}  // namespace scene
