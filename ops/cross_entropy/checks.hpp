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

// A number for each row of x, anywhere.
constexpr signature one_of_each_row(char const* name, unsigned types) {
  return {name, types, 3, 0, {"b", "h", "rows"}, true};
}
inline constexpr signature labels_are =
    one_of_each_row("labels", only(element::int32) | only(element::int64));

inline view read_each_row(DLTensor const* given, signature const& is, view const& x,
                          reading const& how) {
  view const result = read(given, is, how);
  if (result.rank != x.rank - 1)
    refuse(status::bad_rank, is.name, " has ", result.rank, " dimensions where x has ", x.rank,
           "; it must have ", x.rank - 1);
  for (int axis = 0; axis < 3; ++axis) expect_same_size(result, axis, x, axis);
  return result;
}

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

inline bool has_rows(view const& x) { return x.size[0] != 0 && x.size[1] != 0 && x.size[2] != 0; }

}  // namespace tk::api
