// SPDX-License-Identifier: MIT
// A small correct problem of the op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/attention/attention_backward.h"
#include "tests/support/scene.hpp"

namespace scene {

struct attention_backward {
  using problem_type = tk_attention_backward_problem;
  static constexpr tk_op op = TK_OP_ATTENTION_BACKWARD;
  static constexpr char const* call_name = "tk_attention_backward";
  static constexpr char const* outputs[] = {"dq", "dk", "dv"};
  static constexpr std::size_t first_size = 88;  // of the struct's first version
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor q{arena.at(0), bf16, {2, 5, 4, 16}};
  tensor k{arena.at(2048), bf16, {2, 7, 2, 16}};
  tensor v{arena.at(4096), bf16, {2, 7, 2, 24}};
  tensor o{arena.at(6144), bf16, {2, 5, 4, 24}};
  tensor lse{arena.at(8192), fp32, {2, 4, 5}};
  tensor dout{arena.at(10240), bf16, {2, 5, 4, 24}};
  tensor dq{arena.at(12288), bf16, {2, 5, 4, 16}};
  tensor dk{arena.at(14336), bf16, {2, 7, 2, 16}};
  tensor dv{arena.at(16384), bf16, {2, 7, 2, 24}};
  problem_type problem{sizeof(problem_type),
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       TK_MASK_CAUSAL,
                       0.25f,
                       TK_REPEAT_RUN,
                       0,
                       nullptr,
                       nullptr,
                       nullptr};

  std::vector<argument> arguments() {
    return {{"q", &q},       {"k", &k},   {"v", &v},   {"o", &o},  {"lse", &lse},
            {"dout", &dout}, {"dq", &dq}, {"dk", &dk}, {"dv", &dv}};
  }
  std::vector<tensor*> halves() { return {&q, &k, &v, &o, &dout, &dq, &dk, &dv}; }
  problem_type const* get() {
    problem.q = q.given;
    problem.k = k.given;
    problem.v = v.given;
    problem.o = o.given;
    problem.lse = lse.given;
    problem.dout = dout.given;
    problem.dq = dq.given;
    problem.dk = dk.given;
    problem.dv = dv.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_attention_backward(x, workspace, size, stream);
  }
};

// The same with all options but packed sequences, and their gradients.
struct attention_backward_with_options : attention_backward {
  static constexpr char const* outputs[] = {"dq", "dk", "dv", "dbias", "dsinks"};
  tensor alibi{arena.at(18432), fp32, {2, 4}};
  tensor bias{arena.at(18688), fp32, {2, 4, 5, 7}};
  tensor sinks{arena.at(19840), fp32, {4}};
  tensor random_state{arena.at(19904), {kDLUInt, 64, 1}, {2}};
  tensor dbias{arena.at(20480), fp32, {2, 4, 5, 7}};
  tensor dsinks{arena.at(21632), fp32, {4}};
  tk_attention_options options{};

  attention_backward_with_options() {
    options.size = sizeof options;
    options.has_window_left = options.has_window_right = 1;
    options.window_left = 3;
    options.window_right = 2;
    options.softcap = 8;
    options.dropout = 0.25f;
    problem.mask = TK_MASK_NONE;
  }
  std::vector<argument> arguments() {
    auto all = attention_backward::arguments();
    all.insert(all.end(), {{"alibi", &alibi, true},
                           {"bias", &bias, true},
                           {"sinks", &sinks, true},
                           {"random_state", &random_state, true},
                           {"dbias", &dbias, true},
                           {"dsinks", &dsinks, true}});
    return all;
  }
  problem_type const* get() {
    attention_backward::get();
    options.alibi = alibi.given;
    options.bias = bias.given;
    options.sinks = sinks.given;
    options.random_state = random_state.given;
    problem.options = &options;
    problem.dbias = dbias.given;
    problem.dsinks = dsinks.given;
    return &problem;
  }
};

// Two packed sequences: rows 0 to 4 and 5 to 9, keys 0 to 6 and 7 to 13.
struct packed_attention_backward : attention_backward {
  static constexpr char const* outputs[] = {"dq", "dk", "dv", "dbias"};
  tensor q{arena.at(0), bf16, {10, 4, 16}};
  tensor k{arena.at(2048), bf16, {14, 2, 16}};
  tensor v{arena.at(4096), bf16, {14, 2, 24}};
  tensor o{arena.at(6144), bf16, {10, 4, 24}};
  tensor lse{arena.at(8192), fp32, {4, 10}};
  tensor dout{arena.at(10240), bf16, {10, 4, 24}};
  tensor dq{arena.at(12288), bf16, {10, 4, 16}};
  tensor dk{arena.at(14336), bf16, {14, 2, 16}};
  tensor dv{arena.at(16384), bf16, {14, 2, 24}};
  tensor q_starts{arena.at(18432), {kDLInt, 32, 1}, {3}};
  tensor k_starts{arena.at(18496), {kDLInt, 32, 1}, {3}};
  tensor bias{arena.at(18688), bf16, {1, 4, 5, 7}};
  tensor dbias{arena.at(20480), bf16, {1, 4, 5, 7}};
  tk_attention_options options{};

  packed_attention_backward() {
    options.size = sizeof options;
    options.max_nq = 5;
    options.max_nk = 7;
    auto host = arena.content();
    std::int32_t const rows[] = {0, 5, 10}, keys[] = {0, 7, 14};
    std::memcpy(host.data() + 18432, rows, sizeof rows);
    std::memcpy(host.data() + 18496, keys, sizeof keys);
    arena.write(host);
  }
  std::vector<argument> arguments() {
    return {{"q", &q},
            {"k", &k},
            {"v", &v},
            {"o", &o},
            {"lse", &lse},
            {"dout", &dout},
            {"dq", &dq},
            {"dk", &dk},
            {"dv", &dv},
            {"q_starts", &q_starts},
            {"k_starts", &k_starts},
            {"bias", &bias, true},
            {"dbias", &dbias, true}};
  }
  problem_type const* get() {
    problem.q = q.given;
    problem.k = k.given;
    problem.v = v.given;
    problem.o = o.given;
    problem.lse = lse.given;
    problem.dout = dout.given;
    problem.dq = dq.given;
    problem.dk = dk.given;
    problem.dv = dv.given;
    problem.dbias = dbias.given;
    options.q_starts = q_starts.given;
    options.k_starts = k_starts.given;
    options.bias = bias.given;
    problem.options = &options;
    return &problem;
  }
};

}  // namespace scene
