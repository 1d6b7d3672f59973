// SPDX-License-Identifier: MIT
// The checks that conv1d and its backward have in common.
#pragma once
#include "ops/api/check.hpp"
#include "ops/conv1d/problem.hpp"

namespace tk::api {

constexpr signature tokens_are(char const* name) { return {name, any_type, 3, 2, {"b", "n", "c"}}; }
constexpr signature state_is(char const* name) {
  return {name, any_type, 3, 2, {"sequences", "w - 1", "c"}};
}
constexpr signature taps_are(char const* name) { return {name, any_type, 2, 2, {"c", "w"}}; }
constexpr signature channels_are(char const* name) { return {name, any_type, 1, 1, {"c"}}; }
inline constexpr signature x_is = tokens_are("x"), initial_is = state_is("initial_state"),
                           weight_is = taps_are("weight"), bias_is = channels_are("bias"),
                           starts_are{"starts", only(element::int32), 1, 1, {"sequences + 1"}};

// What both take, as it was given and as it was read.
struct conv1d_given {
  DLTensor const *x, *weight, *bias, *initial, *starts;
  tk_activation_kind const& activation;
};
struct conv1d_views {
  view &x, &weight, &bias, &initial, &starts;
};
conv1d_operands read_operands(conv1d_views const& to, conv1d_given const& given,
                              reading const& how);

// Of x's sizes and type.
view read_tokens(DLTensor const* given, signature const& is, view const& x, reading const& how);
view read_state(DLTensor const* given, signature const& is, conv1d_operands const& of,
                view const& x, reading const& how);
// [c, w] of weight's sizes, [c].
view read_taps(DLTensor const* given, signature const& is, view const& x, reading const& how);
view read_channels(DLTensor const* given, signature const& is, view const& x, reading const& how);

row_tensor_view as_tokens(view const& x);
inline any_tensor as_any(view const& x) { return {x.data, x.type}; }

}  // namespace tk::api
