// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward, as in refusals.cpp.
#include "tests/ops/fft_conv/backward_scene.hpp"
#include "tests/ops/fft_conv/refusal_cases.hpp"

namespace {

using namespace scene;
using s = fft_conv_backward;

// Each of the backward's own tensors, with each size of another, and of another type.
void try_own_shapes() {
  for (char const* const name : {"dy", "du", "dpre", "dpost", "dk"}) {
    bool const is_filter = std::string(name) == "dk";
    char const* const of_sequences[] = {"b", "h", "n"};
    char const* const of_filters[] = {"h_k", "nk"};
    for (std::size_t axis = 0; axis < (is_filter ? 2u : 3u); ++axis) {
      auto const* const is = is_filter ? of_filters[axis] : of_sequences[axis];
      try_all<s>(
          {resized<s>(name, axis, 9, TK_BAD_SHAPE, {std::string(name) + " has " + is + " = 9"})});
    }
    CAPTURE(name);
    s x;
    for (auto const& argument : x.arguments())
      if (argument.name == std::string(name)) argument.of->dl.dtype = fp16;
    try_refusal(x, TK_BAD_TYPE, seen::by_all,
                {std::string(name) + " is fp16", is_filter ? "fp32" : "u is bf16"});
  }
}

void try_own_overlaps() {
  try_all<s>({{"channels of du overlap",
               [](s& x) { x.du.strides[1] = 19; },
               TK_BAD_OVERLAP,
               {"du", "[2, 2, 20]", "[40, 19, 1]"}},
              {"batches of dpost in one place",
               [](s& x) { x.dpost.strides[0] = 0; },
               TK_BAD_OVERLAP,
               {"dpost", "[0, 20, 1]"}}});
}

}  // namespace

TEST_CASE("the scene is a correct problem and writes its outputs") { check_scene<s>(); }

TEST_CASE("refusals") {
  check_all_refusals<s>([] {
    try_own_shapes();
    try_own_overlaps();
  });
}
