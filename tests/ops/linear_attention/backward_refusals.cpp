// SPDX-License-Identifier: MIT
// What can be wrong with a problem of the backward, as in refusals.cpp.
#include "tests/ops/linear_attention/backward_scene.hpp"
#include "tests/ops/linear_attention/refusal_cases.hpp"

namespace {

using namespace scene;
using s = linear_attention_backward;

// Each of the backward's own tensors, with each size of another.
void try_own_shapes() {
  for (std::string const name : {"dout", "dq", "dk", "dv", "dfinal_state", "dinitial_state"}) {
    bool const is_state = says(name, "state");
    static constexpr char const *of_tokens[] = {"b", "n", "h", "d"},
                                *of_state[] = {"b", "h", "d", "dv"};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      CAPTURE(name);
      CAPTURE(axis);
      s x;
      for (auto const& argument : x.arguments())
        if (argument.name == name) argument.of->shape[axis] = 7;
      bool const wide = name == "dout" || name == "dv";
      auto const* const is = is_state ? of_state[axis] : axis == 3 && wide ? "dv" : of_tokens[axis];
      try_refusal(x, TK_BAD_SHAPE, seen::by_all, {name + " has " + is + " = 7"});
    }
    CAPTURE(name);
    s x;
    for (auto const& argument : x.arguments())
      if (argument.name == name) argument.of->dl.dtype = fp16;
    auto const part = is_state ? "fp32" : " is bf16";
    try_refusal(x, TK_BAD_TYPE, seen::by_all, {name + " is fp16", part});
  }
}

// The same of what decays get, and no gradient without its decay.
void try_decay_gradients() {
  using h = by_head<s>;
  try_all(std::vector<spoiled<s>>{
      {"b", sized<s>(&s::dlog_decay, 0, 3), TK_BAD_SHAPE, {"dlog_decay has b = 3", "2"}},
      {"n", sized<s>(&s::dlog_decay, 1, 1), TK_BAD_SHAPE, {"dlog_decay has n = 1", "5"}},
      {"h", sized<s>(&s::dlog_decay, 2, 1), TK_BAD_SHAPE, {"dlog_decay has h = 1", "2"}},
      {"type", [](s& x) { x.dlog_decay.dl.dtype = bf16; }, TK_BAD_TYPE, {"dlog_decay", "fp32"}},
      {"tokens in one place",
       [](s& x) { x.dlog_decay.strides[1] = 0; },
       TK_BAD_OVERLAP,
       {"dlog_decay", "[10, 0, 1]"}},
      {"no log_decay",
       [](s& x) { x.log_decay.given = nullptr; },
       TK_NULL_POINTER,
       {"log_decay is NULL, but dlog_decay is given"}},
      {"ddecay of log_decay",
       [](s& x) { x.ddecay.given = &x.ddecay.dl; },
       TK_NULL_POINTER,
       {"decay is NULL, but ddecay is given"}}});
  try_all(std::vector<spoiled<h>>{
      {"of heads", [](h& x) { x.ddecay.shape[0] = 3; }, TK_BAD_SHAPE, {"ddecay has h = 3", "2"}},
      {"of heads, type", [](h& x) { x.ddecay.dl.dtype = bf16; }, TK_BAD_TYPE, {"ddecay", "fp32"}},
      {"of heads, in one place",
       [](h& x) { x.ddecay.strides[0] = 0; },
       TK_BAD_OVERLAP,
       {"ddecay", "[0]"}},
      {"dlog_decay of decay",
       [](h& x) { x.dlog_decay.given = &x.dlog_decay.dl; },
       TK_NULL_POINTER,
       {"log_decay is NULL, but dlog_decay is given"}}});
}

std::vector<spoiled<s>> own_overlaps() {
  return {
      {"heads of dk in one place",
       [](s& x) { x.dk.strides[2] = 0; },
       TK_BAD_OVERLAP,
       {"dk", "[2, 5, 2, 16]", "[160, 32, 0, 1]"}},
      {"heads of dinitial_state overlap",
       [](s& x) { x.dinitial_state.strides[1] = 31; },
       TK_BAD_OVERLAP,
       {"dinitial_state", "[1024, 31, 32, 1]"}},
  };
}

}  // namespace

TEST_CASE("the scenes are correct problems and write their outputs") {
  check_scene<s>();
  check_scene<by_head<s>>();
  check_scene<packed_scene<s>>();
}

TEST_CASE("refusals") {
  std::vector<std::int64_t> const tokens{2, 8192, 16, 64}, state{2, 16, 64, 64};
  check_all_refusals<s>({tokens,
                         tokens,
                         tokens,
                         {2, 8192, 16},
                         state,
                         tokens,
                         tokens,
                         tokens,
                         tokens,
                         state,
                         state,
                         {2, 8192, 16}},
                        [] {
                          try_own_shapes();
                          try_decay_gradients();
                          try_all(own_overlaps());
                        });
}
