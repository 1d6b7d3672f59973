// SPDX-License-Identifier: MIT
// See checks.hpp.
#include "ops/hedgehog/checks.hpp"

namespace tk::api {
namespace {

constexpr auto q_is = tokens_are("q", true), k_is = tokens_are("k", false),
               v_is = heads_are("v", "nk", "total_k", "h", "dv");
constexpr signature map_q_is{"map_q", halves, 3, 3, {"h", "d", "features"}},
    map_k_is{"map_k", halves, 3, 3, {"h", "d", "features"}},
    alpha_is{"alpha", fp32_only, 1, 1, {"h"}, true}, beta_is{"beta", fp32_only, 1, 1, {"h"}, true},
    initial_kv_is = state_is("initial_kv", "d", "dv"), initial_k_is = sums_are("initial_k"),
    key_starts_is{"key_starts", only(element::int32), 1, 1, {"b + 1"}},
    lengths_is{"lengths", only(element::int32), 1, 1, {"b"}};
constexpr signatures normaliser_is{{{"normaliser", fp32_only, 3, 3, {"b", "h", "nq"}},
                                    {"normaliser", fp32_only, 2, 2, {"h", "total_q"}}}};

void expect_width(view const& x, int axis, std::int64_t width) {
  if (x.size[axis] != width)
    refuse(status::unsupported, x.is->name, " has ", x.is->axes[axis], " = ", x.size[axis],
           "; it must be ", width);
}
feature_map read_map(view& to, signature const& is, DLTensor const* given, view const& q, int h,
                     reading const& how) {
  to = read(given, is, how);
  expect_same_type(to, q);
  expect_same_size(to, 0, q, h);
  expect_same_size(to, 1, q, h + 1);
  expect_width(to, 2, hedgehog_features);
  return {{to.data, to.type}, to.size[0], to.stride[0], to.stride[1]};
}
head_numbers read_factors(view& to, signature const& is, DLTensor const* given, view const& q,
                          int h, reading const& how) {
  to = read(given, is, how);
  expect_same_size(to, 0, q, h);
  return {static_cast<float*>(to.data), to.size[0], to.stride[0]};
}
query_numbers read_normaliser(view& to, DLTensor const* given, view const& q, bool packed,
                              reading const& how) {
  int const n = packed ? 0 : 1;
  to = read(given, normaliser_is[packed], how);
  if (!packed) expect_same_size(to, 0, q, 0);
  expect_same_size(to, n, q, n + 1);
  expect_same_size(to, n + 1, q, n);
  return {static_cast<float*>(to.data), packed ? 0 : to.stride[0], to.stride[n]};
}
void read_sequences(hedgehog_inputs& to, hedgehog_views const& x, hedgehog_given const& given,
                    reading const& how) {
  to.starts = to.key_starts = read_starts(x.starts, given.starts, x.q, how);
  if (given.key_starts) {
    if (!given.starts) refuse(status::null_pointer, "starts is NULL, but key_starts is given");
    x.key_starts = read(given.key_starts, key_starts_is, how);
    expect_same_size(x.key_starts, 0, x.starts, 0);
    to.key_starts.data = static_cast<std::int32_t const*>(x.key_starts.data);
  }
  if (given.lengths) {
    if (given.starts)
      refuse(status::bad_value, "lengths and starts are both given; one must be NULL");
    x.lengths = read(given.lengths, lengths_is, how);
    expect_same_size(x.lengths, 0, x.q, 0);
    to.lengths = {static_cast<std::int32_t const*>(x.lengths.data), true};
  }
}

}  // namespace

void read_inputs(hedgehog_inputs& to, hedgehog_views const& x, hedgehog_given const& given,
                 bool needs_normaliser, reading const& how) {
  if (!(given.scale >= 0x1p-64f && given.scale <= 0x1p64f))
    refuse(status::bad_value, "scale is ", given.scale, "; it must be from 2^-64 to 2^64");
  to.scale = given.scale;
  bool const packed = given.starts != nullptr;
  int const n = packed ? 0 : 1, h = n + 1;
  x.q = read(given.q, q_is[packed], how);
  x.k = read(given.k, k_is[packed], how);
  x.v = read(given.v, v_is[packed], how);
  for (auto const* other : {&x.k, &x.v}) {
    expect_same_type(*other, x.q);
    if (!packed) expect_same_size(*other, 0, x.q, 0);
    expect_same_size(*other, h, x.q, h);
    expect_same_size(*other, h + 1, x.q, h + 1);
  }
  expect_same_size(x.v, n, x.k, n);
  expect_width(x.q, h + 1, hedgehog_width);
  to.q = as_heads(x.q, packed);
  to.k = as_heads(x.k, packed);
  to.v = as_heads(x.v, packed);
  to.map_q = read_map(x.map_q, map_q_is, given.map_q, x.q, h, how);
  to.map_k = read_map(x.map_k, map_k_is, given.map_k, x.q, h, how);
  to.alpha = read_factors(x.alpha, alpha_is, given.alpha, x.q, h, how);
  to.beta = read_factors(x.beta, beta_is, given.beta, x.q, h, how);
  read_sequences(to, x, given, how);
  if (given.normaliser || needs_normaliser)
    to.normaliser = read_normaliser(x.normaliser, given.normaliser, x.q, packed, how);
  read_states(to.initial_kv, x.initial_kv, to.initial_k, x.initial_k,
              {initial_kv_is, initial_k_is, given.initial_kv, given.initial_k}, to, x.q, x.v, how);
}

void read_states(state_tensor& kv, view& kv_view, sum_tensor& k, view& k_view, state_pair const& of,
                 hedgehog_inputs const& problem, view const& q, view const& v, reading const& how) {
  auto const without = [](signature const& there, signature const& missing) {
    refuse(status::null_pointer, missing.name, " is NULL, but ", there.name, " is given");
  };
  if (of.given_kv && !of.given_k) without(of.kv, of.k);
  if (of.given_k && !of.given_kv) without(of.k, of.kv);
  bool const packed = problem.starts.given;
  std::int64_t const b = problem.starts.b;
  kv = read_state(kv_view, of.kv, of.given_kv, b, q, v, packed, how);
  if (!of.given_k) return;
  int const h = packed ? 1 : 2;
  k_view = read(of.given_k, of.k, how);
  if (k_view.size[0] != b)
    refuse(status::bad_shape, of.k.name, " has b = ", k_view.size[0], "; it must be ", b);
  expect_same_size(k_view, 1, q, h);
  expect_same_size(k_view, 2, q, h + 1);
  k = {static_cast<float*>(k_view.data),
       true,
       b,
       k_view.size[1],
       k_view.stride[0],
       k_view.stride[1]};
}

void expect_outputs_apart(std::initializer_list<view const*> outputs,
                          std::initializer_list<view const*> inputs,
                          std::initializer_list<std::pair<view const*, view const*>> in_place) {
  auto const may_be_one = [&](view const* output, view const* input) {
    for (auto const& pair : in_place)
      if (pair.first == output && pair.second == input) return is_same(*output, *input);
    return false;
  };
  for (auto const* output : outputs) {
    for (auto const* input : inputs)
      if (!may_be_one(output, input)) expect_apart(*output, *input);
    for (auto const* other : outputs)
      if (other > output) expect_apart(*output, *other);
  }
}

}  // namespace tk::api
