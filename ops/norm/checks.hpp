// SPDX-License-Identifier: MIT
// What the checks of norm and of its backward share.
#pragma once
#include <cmath>

#include "ops/api/check.hpp"
#include "ops/api/dropout.hpp"
#include "ops/norm/norm.h"
#include "ops/norm/problem.hpp"

namespace tk::api {

static_assert(static_cast<int>(TK_NORM_LAYER) == static_cast<int>(norm_kind::layer) &&
              static_cast<int>(TK_NORM_RMS) == static_cast<int>(norm_kind::rms));

inline norm_kind read_kind(tk_norm_kind const& given) {  // any number may be in it
  static constexpr char const* names[] = {"TK_NORM_LAYER", "TK_NORM_RMS"};
  return static_cast<norm_kind>(expect_one_of("kind", given, names));
}

inline void expect_eps(float eps) {
  if (std::isfinite(eps) && eps >= 0) return;
  refuse(status::bad_value, "eps is ", eps, "; it must be finite and not negative");
}

template <class Given> norm_dropout read_mask(Given const& given, view& state, reading const& how) {
  expect_reserved(given.reserved2, "reserved2");
  return {.below = read_dropout(given.dropout),
          .seed = given.seed,
          .offset = given.offset,
          .random_state = read_random_state(state, given.random_state, how)};
}

// A value for each column of x, whose last axis is `width`: of x's type or fp32.
constexpr signature columns_are(char const* name) { return {name, any_type, 1, 1, {"width"}}; }
inline view read_columns(DLTensor const* given, signature const& is, view const& x, int width,
                         reading const& how) {
  view const result = read(given, is, how);
  expect_type_or_fp32(result, x);
  expect_same_size(result, 0, x, width);
  return result;
}

}  // namespace tk::api
