// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward, as in refusals.cpp.
#include "tests/ops/mamba2/backward_scene.hpp"
#include "tests/ops/mamba2/refusal_cases.hpp"

namespace {

using namespace scene;
using s = scene::mamba2_backward;

// Each of the backward's own tensors, with each size of another, and of another type.
void try_own_shapes() {
  for (std::string const name : {"dy", "dx", "ddt", "dA", "dB", "dC", "dD", "dz", "ddt_bias",
                                 "dfinal_state", "dinitial_state"}) {
    for (std::size_t axis = 0; axis < 4; ++axis) {
      s x;
      bool there = false;
      for (auto const& argument : x.arguments())
        if (argument.name == name && axis < std::size_t(argument.of->dl.ndim))
          argument.of->shape[axis] = 7, there = true;
      CAPTURE(name);
      CAPTURE(axis);
      if (there) try_refusal(x, TK_BAD_SHAPE, seen::by_all, {name + " has ", " = 7"});
    }
    CAPTURE(name);
    s x;
    for (auto const& argument : x.arguments())
      if (argument.name == name) argument.of->dl.dtype = fp16;
    try_refusal(x, TK_BAD_TYPE, seen::by_all, {name + " is fp16"});
  }
}

std::vector<spoiled<s>> own_problems() {
  return {
      {"dD without D",
       [](s& x) { x.D.given = nullptr; },
       TK_NULL_POINTER,
       {"D is NULL, but dD is given"}},
      {"dz without z",
       [](s& x) { x.z.given = nullptr; },
       TK_NULL_POINTER,
       {"z is NULL, but dz is given"}},
      {"ddt_bias without dt_bias",
       [](s& x) { x.dt_bias.given = nullptr; },
       TK_NULL_POINTER,
       {"dt_bias is NULL, but ddt_bias is given"}},
      {"dD of columns, D of heads",
       [](s& x) { x.dD.dl.ndim = 2; },
       TK_BAD_RANK,
       {"dD has 2 dimensions", "1"}},
      {"groups of dB in one place",
       [](s& x) { x.dB.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"dB", "[2, 5, 1, 16]"}},
      {"tokens of ddt in one place",
       [](s& x) { x.ddt.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"ddt", "[10, 0, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<s>();
  check_scene<packed_scene<s>>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const tokens{2, 8192, 16, 64}, groups{2, 8192, 1, 64},
      state{2, 16, 64, 64}, steps{2, 8192, 16}, of_heads{16};
  check_mamba2_refusals<s>(
      {tokens, steps, of_heads, groups, groups, of_heads, tokens, of_heads, state, tokens,
       tokens, steps, of_heads, groups, groups, of_heads, tokens, of_heads, state, state},
      [] {
        try_own_shapes();
        try_all(own_problems());
      });
}
