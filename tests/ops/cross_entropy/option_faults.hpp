// SPDX-License-Identifier: MIT
// What can be wrong with the options that cross_entropy and its backward share.
#pragma once
#include "tests/support/refusals.hpp"

namespace scene {

template <class S> std::vector<spoiled<S>> option_faults() {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  auto const number = [](char const* what, auto field, float value,
                         std::vector<std::string> const& parts) {
    return spoiled<S>{what, [=](S& x) { x.problem.*field = value; }, TK_BAD_VALUE, parts};
  };
  using p = typename S::problem_type;
  return {
      {"has_ignore_index",
       [](S& x) { x.problem.has_ignore_index = 2; },
       TK_BAD_VALUE,
       {"has_ignore_index is 2", "0 or 1"}},
      {"an ignore_index that is not asked for",
       [](S& x) { x.problem.ignore_index = -100; },
       TK_BAD_VALUE,
       {"ignore_index is -100", "has_ignore_index is 0"}},
      number("smoothing 1", &p::label_smoothing, 1, {"label_smoothing is 1", "0 to below 1"}),
      number("smoothing -1", &p::label_smoothing, -0.5f, {"label_smoothing is -0.5"}),
      number("smoothing nan", &p::label_smoothing, inf - inf, {"label_smoothing is", "nan"}),
      number("z -1", &p::z_loss, -1, {"z_loss is -1", "not negative"}),
      number("z inf", &p::z_loss, inf, {"z_loss is inf", "finite"}),
      number("z nan", &p::z_loss, inf - inf, {"z_loss is", "nan"}),
      number("softcap -1", &p::softcap, -1, {"softcap is -1", "2^-64 to 2^64"}),
      number("softcap 2^-65", &p::softcap, 0x1p-65f, {"softcap is", "2^-64 to 2^64"}),
      number("softcap 2^65", &p::softcap, 0x1p65f, {"softcap is", "2^-64 to 2^64"}),
      number("softcap nan", &p::softcap, inf - inf, {"softcap is", "nan"}),
  };
}

}  // namespace scene
