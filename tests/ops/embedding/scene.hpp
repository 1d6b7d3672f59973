// SPDX-License-Identifier: MIT
// A small correct problem of each op, whose every part a test may spoil before it makes the call.
#pragma once
#include <cstddef>

#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_backward.h"
#include "tests/support/scene.hpp"

namespace scene {

inline constexpr std::size_t at_table = 0, at_ids = 4096, at_y = 8192, at_dy = at_table,
                             at_dtable = at_y;

// Five rows of twenty columns, named by two times three numbers.
struct embedding {
  using problem_type = tk_embedding_problem;
  static constexpr tk_op op = TK_OP_EMBEDDING;
  static constexpr char const* call_name = "tk_embedding";
  static constexpr char const* outputs[] = {"y"};
  static constexpr std::size_t first_size = 32;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 40);
  memory arena{arena_bytes, arena_byte};
  tensor table{arena.at(at_table), fp32, {5, 20}};
  tensor ids{arena.at(at_ids), int32, {2, 3}};
  tensor y{arena.at(at_y), fp32, {2, 3, 20}};
  problem_type problem{};

  embedding() { problem.size = sizeof problem; }
  std::vector<argument> arguments() {
    return {{"table", &table}, {"ids", &ids, false, true}, {"y", &y}};
  }
  problem_type const* get() {
    problem.table = table.given;
    problem.ids = ids.given;
    problem.y = y.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_embedding(x, workspace, size, stream);
  }
};

// The same backwards: a gradient of twenty columns for each number.
struct embedding_backward {
  using problem_type = tk_embedding_backward_problem;
  static constexpr tk_op op = TK_OP_EMBEDDING_BACKWARD;
  static constexpr char const* call_name = "tk_embedding_backward";
  static constexpr char const* outputs[] = {"dtable"};
  static constexpr std::size_t first_size = 48;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 56);
  memory arena{arena_bytes, arena_byte};
  tensor dy{arena.at(at_dy), fp32, {2, 3, 20}};
  tensor ids{arena.at(at_ids), int32, {2, 3}};
  tensor dtable{arena.at(at_dtable), fp32, {5, 20}};
  problem_type problem{};

  embedding_backward() { problem.size = sizeof problem; }
  std::vector<argument> arguments() {
    return {{"dy", &dy}, {"ids", &ids, false, true}, {"dtable", &dtable}};
  }
  problem_type const* get() {
    problem.dy = dy.given;
    problem.ids = ids.given;
    problem.dtable = dtable.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_embedding_backward(x, workspace, size, stream);
  }
};

}  // namespace scene
