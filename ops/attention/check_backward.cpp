// SPDX-License-Identifier: MIT
// The checks of tk_attention_backward: q, dq [b, nq, hq, d], k, dk [b, nk, hk, d],
// v, dv [b, nk, hk, dv], o, dout [b, nq, hq, dv], lse [b, hq, nq]; hq a multiple of hk, d and dv
// multiples of 8 up to 256.
#include <cmath>

#include "ops/api/entry.hpp"
#include "ops/attention/attention_backward.h"
#include "ops/attention/backward_problem.hpp"

namespace tk::api {
namespace {

constexpr char const* mask_names[] = {"TK_MASK_NONE", "TK_MASK_CAUSAL"};

constexpr signature q_is{"q", halves, 4, 4, {"b", "nq", "hq", "d"}};
constexpr signature k_is{"k", halves, 4, 4, {"b", "nk", "hk", "d"}};
constexpr signature v_is{"v", halves, 4, 4, {"b", "nk", "hk", "dv"}};
constexpr signature o_is{"o", halves, 4, 4, {"b", "nq", "hq", "dv"}};
constexpr signature lse_is{"lse", fp32_only, 3, 3, {"b", "hq", "nq"}};
constexpr signature dout_is{"dout", halves, 4, 4, {"b", "nq", "hq", "dv"}};
constexpr signature dq_is{"dq", halves, 4, 4, {"b", "nq", "hq", "d"}};
constexpr signature dk_is{"dk", halves, 4, 4, {"b", "nk", "hk", "d"}};
constexpr signature dv_is{"dv", halves, 4, 4, {"b", "nk", "hk", "dv"}};

constexpr std::int64_t largest_head = 256, head_step = 8;

heads as_heads(view const& x) {
  heads result{};
  result.data = x.data;
  result.type = x.type;
  result.b = x.size[0];
  result.n = x.size[1];
  result.h = x.size[2];
  result.d = x.size[3];
  result.b_stride = x.stride[0];
  result.n_stride = x.stride[1];
  result.h_stride = x.stride[2];
  return result;
}

void expect_head_size(view const& x) {
  auto const size = x.size[3];
  if (size >= head_step && size <= largest_head && size % head_step == 0) return;
  refuse(status::unsupported, x.is->name, " has ", x.is->axes[3], " = ", size,
         "; it must be a multiple of ", head_step, " from ", head_step, " to ", largest_head);
}

void expect_groups(view const& q, view const& k) {
  auto const hq = q.size[2], hk = k.size[2];
  if (hk == 0 ? hq == 0 : hq % hk == 0) return;
  refuse(status::bad_shape, "q has hq = ", hq, ", which is no multiple of k's hk = ", hk);
}

void expect_as(view const& x, view const& like) {
  for (int axis = 0; axis < 4; ++axis) expect_same_size(x, axis, like, axis);
}

using tensors = decltype(checked<attention_backward_problem, 9>::tensors);

void expect_shapes(tensors const& all) {
  auto const& [q, k, v, o, lse, dout, dq, dk, dv] = all;
  for (auto const* x : {&k, &v, &o, &dout, &dq, &dk, &dv}) {
    expect_same_type(*x, q);
    expect_same_size(*x, 0, q, 0);
  }
  expect_same_size(k, 3, q, 3);
  expect_same_size(v, 1, k, 1);
  expect_same_size(v, 2, k, 2);
  expect_same_size(o, 1, q, 1);
  expect_same_size(o, 2, q, 2);
  expect_same_size(o, 3, v, 3);
  expect_as(dout, o);
  expect_as(dq, q);
  expect_as(dk, k);
  expect_as(dv, v);
  expect_same_size(lse, 0, q, 0);
  expect_same_size(lse, 1, q, 2);
  expect_same_size(lse, 2, q, 1);
  expect_groups(q, k);
  expect_head_size(q);
  expect_head_size(v);
}

void expect_outputs_apart(tensors const& all) {
  auto const& [q, k, v, o, lse, dout, dq, dk, dv] = all;
  for (auto const* output : {&dq, &dk, &dv})
    for (auto const* input : {&q, &k, &v, &o, &lse, &dout}) expect_apart(*output, *input);
  expect_apart(dq, dk);
  expect_apart(dq, dv);
  expect_apart(dk, dv);
}

checked<attention_backward_problem, 9> check_backward(tk_attention_backward_problem const& given,
                                                      bool data) {
  int const mask = expect_one_of("mask", given.mask, mask_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows of dq are alike either way
  expect_reserved(given.reserved);
  if (!std::isfinite(given.scale)) {
    refuse(status::bad_value, "scale is ", given.scale, "; it must be finite");
  }
  reading const how{data, be::rt::current_device()};

  checked<attention_backward_problem, 9> result{};
  auto& [q, k, v, o, lse, dout, dq, dk, dv] = result.tensors;
  q = read(given.q, q_is, how);
  k = read(given.k, k_is, how);
  v = read(given.v, v_is, how);
  o = read(given.o, o_is, how);
  lse = read(given.lse, lse_is, how);
  dout = read(given.dout, dout_is, how);
  dq = read(given.dq, dq_is, how);
  dk = read(given.dk, dk_is, how);
  dv = read(given.dv, dv_is, how);
  expect_shapes(result.tensors);
  for (auto const* output : {&dq, &dk, &dv}) expect_distinct_elements(*output);
  if (data) expect_outputs_apart(result.tensors);

  bool const no_query = q.size[1] == 0 || q.size[2] == 0;
  result.empty = q.size[0] == 0 || k.size[2] == 0 || (no_query && k.size[1] == 0);
  result.problem = {.q = as_heads(q),
                    .k = as_heads(k),
                    .v = as_heads(v),
                    .o = as_heads(o),
                    .dout = as_heads(dout),
                    .dq = as_heads(dq),
                    .dk = as_heads(dk),
                    .dv = as_heads(dv),
                    .lse = static_cast<float const*>(lse.data),
                    .lse_b_stride = lse.stride[0],
                    .lse_h_stride = lse.stride[1],
                    .mask = static_cast<mask_kind>(mask),
                    .scale = given.scale};
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(attention_backward, repeat, check_backward)
