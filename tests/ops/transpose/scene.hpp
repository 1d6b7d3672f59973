// SPDX-License-Identifier: MIT
// A small correct problem of the op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/transpose/transpose.h"
#include "tests/support/scene.hpp"

namespace scene {

struct transpose {
  using problem_type = tk_transpose_problem;
  static constexpr tk_op op = TK_OP_TRANSPOSE;
  static constexpr char const* call_name = "tk_transpose";
  static constexpr char const* outputs[] = {"y"};
  static constexpr std::size_t first_size = 24;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size);
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(0), fp32, {2, 3, 20}};
  tensor y{arena.at(16384), fp32, {2, 20, 3}};
  problem_type problem{sizeof(problem_type), nullptr, nullptr, TK_REPEAT_RUN, 0};

  transpose() {
    bytes host(arena_bytes, arena_byte);
    for (std::size_t i = 0; i < 120; ++i) put_fp32(host, 4 * i, static_cast<float>(i));
    arena.write(host);
  }
  std::vector<argument> arguments() {
    return {{.name = "x", .of = &x, .takes_fp8 = true}, {.name = "y", .of = &y, .takes_fp8 = true}};
  }
  problem_type const* get() {
    problem.x = x.given;
    problem.y = y.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_transpose(x, workspace, size, stream);
  }
};

}  // namespace scene
