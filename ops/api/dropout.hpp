// SPDX-License-Identifier: MIT
// Dropout as ops are asked for it: a probability, and what random bytes follow from
// (core/random.hpp).
#pragma once
#include <cmath>

#include "ops/api/refuse.hpp"
#include "ops/api/view.hpp"

namespace tk::api {

// Of 256 bytes, how many are dropped.
inline int read_dropout(float p) {
  constexpr float most = 255.f / 256;
  if (!(p >= 0 && p <= most))
    refuse(status::bad_value, "dropout is ", p, "; it must be from 0 to 255/256");
  return static_cast<int>(std::lround(256 * p));
}

// Seed and offset on the device, where they are given.
inline constexpr signature random_state_is{"random_state", integers64, 1, 1, {"2"}};
inline std::uint64_t const* read_random_state(view& to, DLTensor const* given, reading const& how) {
  if (!given) return nullptr;
  to = read(given, random_state_is, how);
  if (to.size[0] != 2)
    refuse(status::bad_shape, "random_state has 2 = ", to.size[0], "; it must be 2");
  return static_cast<std::uint64_t const*>(to.data);
}

}  // namespace tk::api
