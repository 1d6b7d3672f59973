// SPDX-License-Identifier: MIT
// The checks that mamba2's ops have in common.
#pragma once
#include "ops/linear_attention/checks.hpp"
#include "ops/mamba2/problem.hpp"

namespace tk::api {

// The views of what both are given.
struct mamba2_views {
  view &x, &dt, &A, &B, &C, &D, &z, &dt_bias, &initial, &starts;
};
constexpr signature state_of_heads(char const* name) { return state_is(name, "p", "s"); }

// A number of each head, shaped like another.
head_vector as_head_vector(view const& x);
step_tensor as_steps(view const& x, bool packed);

template <class Given>
void read_mamba2_inputs(mamba2_views const& to, mamba2_inputs_given& problem, Given const& given,
                        reading const& how) {
  static constexpr auto x_is = heads_are("x", "n", "total", "h", "p"),
                        B_is = heads_are("B", "n", "total", "g", "s"),
                        C_is = heads_are("C", "n", "total", "g", "s"),
                        z_is = heads_are("z", "n", "total", "h", "p");
  static constexpr unsigned step_types = halves | fp32_only;
  static constexpr signatures dt_is{{{"dt", step_types, 3, 3, {"b", "n", "h"}, true},
                                     {"dt", step_types, 2, 2, {"total", "h"}, true}}};
  static constexpr signature A_is{"A", fp32_only, 1, 1, {"h"}, true},
      bias_is{"dt_bias", fp32_only, 1, 1, {"h"}, true},
      D_of_heads_is{"D", fp32_only, 1, 1, {"h"}, true},
      D_is{"D", fp32_only, 2, 2, {"h", "p"}, true};
  static constexpr signature initial_is = state_of_heads("initial_state");

  expect_one_of("repeat", given.repeat, repeat_names);
  expect_one_of("dt_softplus", given.dt_softplus, flag_names);
  expect_reserved(given.reserved2, "reserved2");
  expect_reserved(given.reserved);
  if (!(given.dt_min <= given.dt_max))
    refuse(status::bad_value, "dt_min is ", given.dt_min, ", dt_max ", given.dt_max,
           "; it must be at least dt_min");
  bool const packed = given.starts != nullptr;
  int const n = packed ? 0 : 1, h = n + 1, cols = n + 2;

  to.x = read(given.x, x_is[packed], how);
  expect_head_size(to.x, cols);
  to.dt = read(given.dt, dt_is[packed], how);
  expect_type_or_fp32(to.dt, to.x);
  for (int axis = 0; axis <= h; ++axis) expect_same_size(to.dt, axis, to.x, axis);
  auto const read_of_heads = [&](view& y, DLTensor const* tensor, signature const& is) {
    y = read(tensor, is, how);
    expect_same_size(y, 0, to.x, h);
  };
  read_of_heads(to.A, given.A, A_is);
  to.B = read(given.B, B_is[packed], how);
  expect_same_type(to.B, to.x);
  for (int axis = 0; axis <= n; ++axis) expect_same_size(to.B, axis, to.x, axis);
  expect_head_size(to.B, cols);
  auto const groups = to.B.size[h], of_heads = to.x.size[h];
  if (groups > 0 ? of_heads == 0 || of_heads % groups != 0 : of_heads > 0)
    refuse(status::bad_shape, "B has g = ", groups, "; it must divide h = ", of_heads,
           ", and be 0 where that is");
  to.C = read_like(given.C, C_is[packed], to.B, how);
  if (given.D) {
    bool const of_columns = given.D->ndim != 1;
    read_of_heads(to.D, given.D, of_columns ? D_is : D_of_heads_is);
    if (of_columns) expect_same_size(to.D, 1, to.x, cols);
  }
  if (given.z) to.z = read_like(given.z, z_is[packed], to.x, how);
  if (given.dt_bias) read_of_heads(to.dt_bias, given.dt_bias, bias_is);
  problem.starts = read_starts(to.starts, given.starts, to.x, how);
  problem.initial = read_state(to.initial, initial_is, given.initial_state, problem.starts.b, to.x,
                               to.B, packed, how);
  problem.x = as_heads(to.x, packed);
  problem.B = as_heads(to.B, packed);
  problem.C = as_heads(to.C, packed);
  if (given.z) problem.z = as_heads(to.z, packed);
  problem.dt = as_steps(to.dt, packed);
  problem.A = as_head_vector(to.A);
  if (given.D) problem.D = as_head_vector(to.D);
  if (given.dt_bias) problem.dt_bias = as_head_vector(to.dt_bias);
  problem.dt_min = given.dt_min;
  problem.dt_max = given.dt_max;
  problem.softplus = given.dt_softplus != 0;
}

}  // namespace tk::api
