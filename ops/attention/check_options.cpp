// SPDX-License-Identifier: MIT
// See check_options.hpp. Options are checked after q and k, to whose sizes theirs are held.
#include "ops/attention/check_options.hpp"

#include <limits>

#include "ops/api/dropout.hpp"
#include "ops/api/entry.hpp"

namespace tk::api {
namespace {

constexpr signature alibi_is{"alibi", fp32_only, 2, 1, {"b", "hq"}};
constexpr signature bias_is{"bias", any_type, 4, 4, {"b", "hq", "nq", "nk"}};
constexpr signature packed_bias_is{"bias", any_type, 4, 4, {"b", "hq", "max_nq", "max_nk"}};
constexpr signature sinks_is{"sinks", fp32_only, 1, 1, {"hq"}};
constexpr signature q_starts_is{"q_starts", only(element::int32), 1, 1, {"b + 1"}};
constexpr signature k_starts_is{"k_starts", only(element::int32), 1, 1, {"b + 1"}};

constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max() - 1024;

void expect_head_size(view const& x, int n) {
  constexpr std::int64_t largest = 256, step = 8;
  auto const size = x.size[n + 2];
  if (size >= step && size <= largest && size % step == 0) return;
  refuse(status::unsupported, x.is->name, " has ", x.is->axes[n + 2], " = ", size,
         "; it must be a multiple of ", step, " from ", step, " to ", largest);
}

void expect_groups(view const& q, view const& k, int n) {
  auto const hq = q.size[n + 1], hk = k.size[n + 1];
  if (hk == 0 ? hq == 0 : hq % hk == 0) return;
  refuse(status::bad_shape, "q has hq = ", hq, ", which is no multiple of k's hk = ", hk);
}

void expect_size_or_1(view const& x, int axis, std::int64_t size) {
  if (x.size[axis] == size || x.size[axis] == 1) return;
  refuse(status::bad_shape, x.is->name, " has ", x.is->axes[axis], " = ", x.size[axis],
         "; it must be ", size, " or 1");
}

// A window's width, past which it masks nothing.
void read_window(bool& has, std::int64_t& width, int given_switch, int given,
                 char const* switch_name, char const* name, std::int64_t all) {
  bool const on = expect_one_of(switch_name, given_switch, flag_names) != 0;
  if (!on && given != 0)
    refuse(status::bad_value, name, " is ", given, " where ", switch_name, " is 0");
  if (given < 0) refuse(status::bad_value, name, " is ", given, "; it must be 0 or more");
  has = on && given < all;
  width = has ? given : all;
}

void read_numbers(attention_terms& to, tk_attention_options const& given) {
  constexpr float least = 0x1p-64f, most = 0x1p64f;
  float const cap = given.softcap;
  if (cap != 0 && !(cap >= least && cap <= most))
    refuse(status::bad_value, "softcap is ", cap, "; it must be 0 or from 2^-64 to 2^64");
  to.softcap = cap;
  to.dropout = read_dropout(given.dropout);
  to.seed = given.seed;
  to.offset = given.offset;
}

std::int64_t read_length(char const* name, std::int64_t given, bool packed, std::int64_t all) {
  if (given < 0 || given > most_rows)
    refuse(status::bad_value, name, " is ", given, "; it must be 0 to ", most_rows);
  if (given != 0 && !packed)
    refuse(status::bad_value, name, " is ", given, " where q_starts is NULL");
  return given == 0 ? all : given;
}

void read_bias(attention_terms& to, view& bias, DLTensor const* given, heads const& q,
               reading const& how) {
  bias = read(given, to.packed ? packed_bias_is : bias_is, how);
  if (bias.type != element::fp32 && bias.type != q.type)
    refuse(status::bad_type, "bias is of another type than q; it must be fp32 or the type of q");
  expect_size_or_1(bias, 0, to.b);
  expect_size_or_1(bias, 1, q.h);
  expect_size(bias, 2, to.nq);
  expect_size(bias, 3, to.nk);
  to.bias = as_bias(bias);
}

void read_starts(attention_terms& to, view& q_starts, view& k_starts,
                 tk_attention_options const& given, reading const& how) {
  q_starts = read(given.q_starts, q_starts_is, how);
  k_starts = read(given.k_starts, k_starts_is, how);
  if (q_starts.size[0] == 0)
    refuse(status::bad_shape, "q_starts has b + 1 = 0; it must be 1 or more");
  expect_same_size(k_starts, 0, q_starts, 0);
  to.q_starts = static_cast<std::int32_t const*>(q_starts.data);
  to.k_starts = static_cast<std::int32_t const*>(k_starts.data);
  to.b = q_starts.size[0] - 1;
}

}  // namespace

tk_attention_options read_options(tk_attention_options const* given) {
  if (!given) return {};
  constexpr std::size_t first_version = 112;
  return known_part(given, first_version, "options");
}

void expect_shapes(view const& q, view const& k, view const& v, view const& o, int n) {
  for (auto const* x : {&k, &v, &o}) {
    expect_same_type(*x, q);
    if (n == 1) expect_same_size(*x, 0, q, 0);
  }
  expect_same_size(k, n + 2, q, n + 2);
  expect_same_size(v, n, k, n);
  expect_same_size(v, n + 1, k, n + 1);
  expect_same_size(o, n, q, n);
  expect_same_size(o, n + 1, q, n + 1);
  expect_same_size(o, n + 2, v, n + 2);
  expect_groups(q, k, n);
  expect_head_size(q, n);
  expect_head_size(v, n);
}

void expect_lse(view const& lse, view const& q, int n) {
  if (n == 1) expect_same_size(lse, 0, q, 0);
  expect_same_size(lse, n, q, n + 1);
  expect_same_size(lse, n + 1, q, n);
}

bias_tensor as_bias(view const& x) {
  bias_tensor y{};
  y.data = x.data;
  y.type = x.type;
  y.given = true;
  y.b = x.size[0];
  y.h = x.size[1];
  y.nq = x.size[2];
  y.nk = x.size[3];
  y.b_stride = x.stride[0];
  y.h_stride = x.stride[1];
  y.n_stride = x.stride[2];
  return y;
}

checked_options check_options(tk_attention_options const& given, mask_kind mask, heads const& q,
                              heads const& k, reading const& how) {
  checked_options result{};
  result.mask = mask;
  auto& to = result.terms;
  auto& [alibi, bias, sinks, q_starts, k_starts, random_state] = result.tensors;
  bool const packed = is_packed(given);
  read_window(to.has_left, to.left, given.has_window_left, given.window_left, "has_window_left",
              "window_left", k.n);
  read_window(to.has_right, to.right, given.has_window_right, given.window_right,
              "has_window_right", "window_right", q.n);
  read_numbers(to, given);
  to.packed = packed;
  to.b = q.b;
  if (packed) read_starts(to, q_starts, k_starts, given, how);
  to.nq = read_length("max_nq", given.max_nq, packed, q.n);
  to.nk = read_length("max_nk", given.max_nk, packed, k.n);
  if (given.alibi) {
    alibi = read(given.alibi, alibi_is, how);
    if (alibi.rank == 2) expect_size(alibi, 0, to.b);
    expect_size(alibi, 1, q.h);
    to.alibi = {true, static_cast<float const*>(alibi.data), alibi.stride[0], alibi.stride[1]};
  }
  if (given.sinks) {
    sinks = read(given.sinks, sinks_is, how);
    expect_size(sinks, 0, q.h);
    to.sinks = {true, static_cast<float const*>(sinks.data), 0, sinks.stride[0]};
  }
  if (given.bias) read_bias(to, bias, given.bias, q, how);
  to.random_state = read_random_state(random_state, given.random_state, how);
  if (mask == mask_kind::causal || (to.has_right && to.right == 0)) {
    result.mask = mask_kind::causal;
    to.has_right = false;
    to.right = 0;
  }
  return result;
}

}  // namespace tk::api
