// SPDX-License-Identifier: MIT
// What the checks of cross_entropy and of its backward share.
#pragma once
#include <cmath>

#include "ops/api/check.hpp"
#include "ops/api/rows.hpp"
#include "ops/cross_entropy/problem.hpp"

namespace tk::api {

inline constexpr std::array<char const*, 4> logit_axes{"b", "h", "rows", "vocab"};
constexpr signature logits_are(char const* name) { return {name, any_type, 4, 1, logit_axes}; }

inline constexpr signature labels_are = one_of_each_row("labels", integers);

template <class Given> cross_entropy_terms read_terms(Given const& given) {
  constexpr float least = 0x1p-64f, most = 0x1p64f;
  bool const ignores = expect_one_of("has_ignore_index", given.has_ignore_index, flag_names) != 0;
  if (!ignores && given.ignore_index != 0)
    refuse(status::bad_value, "ignore_index is ", given.ignore_index,
           " where has_ignore_index is 0");
  float const e = given.label_smoothing, z = given.z_loss, cap = given.softcap;
  if (!(e >= 0 && e < 1))
    refuse(status::bad_value, "label_smoothing is ", e, "; it must be from 0 to below 1");
  if (!(std::isfinite(z) && z >= 0))
    refuse(status::bad_value, "z_loss is ", z, "; it must be finite and not negative");
  if (cap != 0 && !(cap >= least && cap <= most))
    refuse(status::bad_value, "softcap is ", cap, "; it must be 0 or from 2^-64 to 2^64");
  return {given.ignore_index, ignores, e, z, cap};
}

}  // namespace tk::api
