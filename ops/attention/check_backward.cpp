// SPDX-License-Identifier: MIT
// The checks of tk_attention_backward: q, dq [b, nq, hq, d], k, dk [b, nk, hk, d],
// v, dv [b, nk, hk, dv], o, dout [b, nq, hq, dv], lse [b, hq, nq]; hq a multiple of hk, d and dv
// multiples of 8 up to 256. Packed sequences lack b, and n counts the rows of all of them.
#include <algorithm>
#include <cmath>

#include "ops/api/entry.hpp"
#include "ops/attention/attention_backward.h"
#include "ops/attention/backward_problem.hpp"
#include "ops/attention/check_options.hpp"

namespace tk::api {
namespace {

constexpr auto dout_is = heads_are("dout", "nq", "total_q", "hq", "dv"),
               dq_is = heads_are("dq", "nq", "total_q", "hq", "d"),
               dk_is = heads_are("dk", "nk", "total_k", "hk", "d"),
               dv_is = heads_are("dv", "nk", "total_k", "hk", "dv");
constexpr signatures dbias_is{{{"dbias", any_type, 4, 4, {"b", "hq", "nq", "nk"}},
                               {"dbias", any_type, 4, 4, {"b", "hq", "max_nq", "max_nk"}}}};
constexpr signature dsinks_is{"dsinks", fp32_only, 1, 1, {"hq"}};

void expect_as(view const& x, view const& like) {
  for (int axis = 0; axis < like.is->rank; ++axis) expect_same_size(x, axis, like, axis);
}

struct operands {
  view q, k, v, o, lse, dout, dq, dk, dv, dbias, dsinks;
  static constexpr int count = 11, inputs = 6;
};

// Of the type and batches of q, and otherwise of the sizes of `of`.
void expect_gradient(view const& x, view const& of, view const& q, int n) {
  expect_same_type(x, q);
  if (n == 1) expect_same_size(x, 0, q, 0);
  expect_as(x, of);
}

void read_dbias(attention_backward_problem& to, view& dbias, DLTensor const* given,
                view const& bias, reading const& how) {
  if (!bias.is) refuse(status::bad_value, "dbias is given where bias is NULL");
  dbias = read(given, dbias_is[to.terms.packed], how);
  if (dbias.type != element::fp32 && dbias.type != bias.type)
    refuse(status::bad_type,
           "dbias is of another type than bias; it must be fp32 or the type of bias");
  expect_as(dbias, bias);
  expect_distinct_elements(dbias);
  to.dbias = as_bias(dbias);
}

void read_dsinks(attention_backward_problem& to, view& dsinks, DLTensor const* given,
                 view const& sinks, reading const& how) {
  if (!sinks.is) refuse(status::bad_value, "dsinks is given where sinks is NULL");
  dsinks = read(given, dsinks_is, how);
  expect_same_size(dsinks, 0, sinks, 0);
  expect_distinct_elements(dsinks);
  to.dsinks = static_cast<float*>(dsinks.data);
  to.dsinks_stride = dsinks.stride[0];
  to.wants_dsinks = true;
}

constexpr std::size_t tensors = operands::count + checked_options::most;
using checked_backward = checked<attention_backward_problem, tensors>;

bool has_elements(view const& x) {
  return x.is &&
         std::find(x.size.data(), x.size.data() + x.is->rank, 0) == x.size.data() + x.is->rank;
}

void expect_outputs_apart(checked_backward const& x) {
  auto const& all = x.tensors;
  constexpr std::size_t first = operands::inputs, end = operands::count;
  for (std::size_t output = first; output < end; ++output)
    for (std::size_t other = 0; other < tensors; ++other)
      if (other < first || other >= end) expect_apart(all[output], all[other]);
  for (std::size_t output = first; output < end; ++output)
    for (std::size_t other = output + 1; other < end; ++other)
      expect_apart(all[output], all[other]);
}

checked_backward check_backward(tk_attention_backward_problem const& given, bool data) {
  int const mask = expect_one_of("mask", given.mask, mask_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows of dq are alike either way
  expect_reserved(given.reserved);
  if (!std::isfinite(given.scale)) {
    refuse(status::bad_value, "scale is ", given.scale, "; it must be finite");
  }
  auto const options = read_options(given.options);
  reading const how{data, be::rt::current_device()};
  bool const packed = is_packed(options);
  int const n = packed ? 0 : 1;

  operands all{};
  auto& [q, k, v, o, lse, dout, dq, dk, dv, dbias, dsinks] = all;
  q = read(given.q, q_is[packed], how);
  k = read(given.k, k_is[packed], how);
  v = read(given.v, v_is[packed], how);
  o = read(given.o, o_is[packed], how);
  lse = read(given.lse, lse_is[packed], how);
  dout = read(given.dout, dout_is[packed], how);
  dq = read(given.dq, dq_is[packed], how);
  dk = read(given.dk, dk_is[packed], how);
  dv = read(given.dv, dv_is[packed], how);
  expect_shapes(q, k, v, o, n);
  expect_lse(lse, q, n);
  expect_gradient(dout, o, q, n);
  expect_gradient(dq, q, q, n);
  expect_gradient(dk, k, q, n);
  expect_gradient(dv, v, q, n);
  for (auto const* output : {&dq, &dk, &dv}) expect_distinct_elements(*output);

  checked_backward result{};
  auto& problem = result.problem;
  problem.q = as_heads(q, packed);
  problem.k = as_heads(k, packed);
  problem.v = as_heads(v, packed);
  problem.o = as_heads(o, packed);
  problem.dout = as_heads(dout, packed);
  problem.dq = as_heads(dq, packed);
  problem.dk = as_heads(dk, packed);
  problem.dv = as_heads(dv, packed);
  problem.lse = static_cast<float const*>(lse.data);
  problem.lse_b_stride = packed ? 0 : lse.stride[0];
  problem.lse_h_stride = lse.stride[n];
  problem.scale = given.scale;
  auto const more = check_options(options, static_cast<mask_kind>(mask), problem.q, problem.k, how);
  problem.mask = more.mask;
  problem.terms = more.terms;
  if (given.dbias) read_dbias(problem, dbias, given.dbias, more.bias(), how);
  if (given.dsinks) read_dsinks(problem, dsinks, given.dsinks, more.sinks(), how);
  result.tensors = {q, k, v, o, lse, dout, dq, dk, dv, dbias, dsinks};
  std::copy(more.tensors.begin(), more.tensors.end(), result.tensors.begin() + operands::count);
  if (data) expect_outputs_apart(result);
  result.empty = !problem.has_rows() && !has_elements(dbias) && !has_elements(dsinks);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(attention_backward, repeat, check_backward)
