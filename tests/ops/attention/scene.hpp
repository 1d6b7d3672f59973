// SPDX-License-Identifier: MIT
// A small correct problem of the op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/attention/attention_forward.h"
#include "tests/support/scene.hpp"

namespace scene {

struct attention {
  using problem_type = tk_attention_forward_problem;
  static constexpr tk_op op = TK_OP_ATTENTION_FORWARD;
  static constexpr char const* call_name = "tk_attention_forward";
  static constexpr char const* outputs[] = {"o", "lse"};
  static constexpr std::size_t first_size = 56;  // of the struct's first version
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor q{arena.at(0), bf16, {2, 5, 4, 16}};
  tensor k{arena.at(4096), bf16, {2, 7, 2, 16}};
  tensor v{arena.at(8192), bf16, {2, 7, 2, 24}};
  tensor o{arena.at(12288), bf16, {2, 5, 4, 24}};
  tensor lse{arena.at(16384), fp32, {2, 4, 5}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr,       nullptr, nullptr, nullptr,
                       TK_MASK_CAUSAL,       0.25f,   TK_REPEAT_RUN, 0,       nullptr};

  std::vector<argument> arguments() {
    return {{"q", &q}, {"k", &k}, {"v", &v}, {"o", &o}, {"lse", &lse, true}};
  }
  problem_type const* get() {
    problem.q = q.given;
    problem.k = k.given;
    problem.v = v.given;
    problem.o = o.given;
    problem.lse = lse.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_attention_forward(x, workspace, size, stream);
  }
};

// The same with all options but packed sequences.
struct attention_with_options : attention {
  tensor alibi{arena.at(20480), fp32, {2, 4}};
  tensor bias{arena.at(20736), fp32, {2, 4, 5, 7}};
  tensor sinks{arena.at(22016), fp32, {4}};
  tensor random_state{arena.at(22080), {kDLUInt, 64, 1}, {2}};
  tk_attention_options options{};

  attention_with_options() {
    options.size = sizeof options;
    options.has_window_left = options.has_window_right = 1;
    options.window_left = 3;
    options.window_right = 2;
    options.softcap = 8;
    options.dropout = 0.25f;
    problem.mask = TK_MASK_NONE;
  }
  std::vector<argument> arguments() {
    auto all = attention::arguments();
    all.insert(all.end(), {{"alibi", &alibi, true},
                           {"bias", &bias, true},
                           {"sinks", &sinks, true},
                           {"random_state", &random_state, true}});
    return all;
  }
  problem_type const* get() {
    attention::get();
    options.alibi = alibi.given;
    options.bias = bias.given;
    options.sinks = sinks.given;
    options.random_state = random_state.given;
    problem.options = &options;
    return &problem;
  }
};

// Two packed sequences: rows 0 to 4 and 5 to 9, keys 0 to 6 and 7 to 13.
struct packed_attention : attention {
  tensor q{arena.at(0), bf16, {10, 4, 16}};
  tensor k{arena.at(4096), bf16, {14, 2, 16}};
  tensor v{arena.at(8192), bf16, {14, 2, 24}};
  tensor o{arena.at(12288), bf16, {10, 4, 24}};
  tensor lse{arena.at(16384), fp32, {4, 10}};
  tensor q_starts{arena.at(20480), {kDLInt, 32, 1}, {3}};
  tensor k_starts{arena.at(20544), {kDLInt, 32, 1}, {3}};
  tensor bias{arena.at(20736), bf16, {1, 4, 5, 7}};
  tk_attention_options options{};

  packed_attention() {
    options.size = sizeof options;
    options.max_nq = 5;
    options.max_nk = 7;
    auto host = arena.content();
    std::int32_t const rows[] = {0, 5, 10}, keys[] = {0, 7, 14};
    std::memcpy(host.data() + 20480, rows, sizeof rows);
    std::memcpy(host.data() + 20544, keys, sizeof keys);
    arena.write(host);
  }
  std::vector<argument> arguments() {
    return {{"q", &q},
            {"k", &k},
            {"v", &v},
            {"o", &o},
            {"lse", &lse, true},
            {"q_starts", &q_starts},
            {"k_starts", &k_starts},
            {"bias", &bias, true}};
  }
  problem_type const* get() {
    problem.q = q.given;
    problem.k = k.given;
    problem.v = v.given;
    problem.o = o.given;
    problem.lse = lse.given;
    options.q_starts = q_starts.given;
    options.k_starts = k_starts.given;
    options.bias = bias.given;
    problem.options = &options;
    return &problem;
  }
};

}  // namespace scene
