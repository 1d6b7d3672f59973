// SPDX-License-Identifier: MIT
// A small correct problem of each kind of block, whose every part a test may spoil before it makes
// the call.
#pragma once
#include <cstddef>

#include "ops/quantise/quantise.h"
#include "tests/support/scene.hpp"

namespace scene {

inline constexpr std::size_t at_x = 0, at_y = 8192, at_scale = 16384;

struct quantise {
  using problem_type = tk_quantise_problem;
  static constexpr tk_op op = TK_OP_QUANTISE;
  static constexpr char const* call_name = "tk_quantise";
  static constexpr char const* outputs[] = {"y", "scale"};
  static constexpr std::size_t first_size = 40;  // of the shortest struct
  static_assert(offsetof(problem_type, repeat) == first_size && sizeof(problem_type) == 48);
  memory arena{arena_bytes, arena_byte};
  tensor x{arena.at(at_x), fp32, {2, 3, 20}};
  tensor y{arena.at(at_y), fp8_e4m3, {2, 3, 20}};
  tensor scale{arena.at(at_scale), fp32, {2, 3}};
  problem_type problem{};

  quantise() { problem.size = sizeof problem; }
  std::vector<argument> arguments() {
    return {{"x", &x}, {.name = "y", .of = &y, .is_fp8 = true}, {"scale", &scale, false, true}};
  }
  problem_type const* get() {
    problem.x = x.given;
    problem.y = y.given;
    problem.scale = scale.given;
    return &problem;
  }
  static tk_status call(problem_type const* x, void* workspace = nullptr, std::size_t size = 0,
                        void* stream = nullptr) {
    return tk_quantise(x, workspace, size, stream);
  }

 protected:
  void scale_is(tk_scale_kind kind, std::vector<std::int64_t> const& sizes) {
    problem.kind = kind;
    scale.dl.ndim = static_cast<int>(sizes.size());
    scale.dl.strides = nullptr;
    std::copy(sizes.begin(), sizes.end(), scale.shape.begin());
  }
};

struct quantise_1x128 : quantise {
  quantise_1x128() { scale_is(TK_SCALE_1X128, {2, 3, 1}); }
};
struct quantise_128x128 : quantise {
  quantise_128x128() { scale_is(TK_SCALE_128X128, {2, 1, 1}); }
};
struct quantise_tensor : quantise {
  quantise_tensor() { scale_is(TK_SCALE_TENSOR, {1}); }
};
struct quantise_given : quantise {
  static constexpr char const* outputs[] = {"y"};
  quantise_given() { scale_is(TK_SCALE_GIVEN, {}); }
};

}  // namespace scene
