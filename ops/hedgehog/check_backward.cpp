// SPDX-License-Identifier: MIT
// The checks of tk_hedgehog_backward: those of the forward, and gradients like what they are of.
#include "ops/api/entry.hpp"
#include "ops/hedgehog/checks.hpp"
#include "ops/hedgehog/hedgehog_backward.h"

namespace tk::api {
namespace {

constexpr auto o_is = heads_are("o", "nq", "total_q", "h", "dv"),
               dout_is = heads_are("dout", "nq", "total_q", "h", "dv"),
               dq_is = tokens_are("dq", true), dk_is = tokens_are("dk", false),
               dv_is = heads_are("dv", "nk", "total_k", "h", "dv");
constexpr signature dmap_q_is{"dmap_q", fp32_only, 3, 3, {"h", "d", "features"}},
    dmap_k_is{"dmap_k", fp32_only, 3, 3, {"h", "d", "features"}},
    dalpha_is{"dalpha", fp32_only, 1, 1, {"h"}, true},
    dbeta_is{"dbeta", fp32_only, 1, 1, {"h"}, true},
    dfinal_kv_is = state_is("dfinal_kv", "d", "dv"), dfinal_k_is = sums_are("dfinal_k"),
    dinitial_kv_is = state_is("dinitial_kv", "d", "dv"), dinitial_k_is = sums_are("dinitial_k");

constexpr std::size_t tensors = 26;
using result_type = checked<hedgehog_backward_problem, tensors>;

feature_map read_map_gradient(view& to, signature const& is, DLTensor const* given,
                              view const& like, reading const& how) {
  if (!given) return {};
  to = read(given, is, how);
  for (int axis = 0; axis < 3; ++axis) expect_same_size(to, axis, like, axis);
  return {{to.data, to.type}, to.size[0], to.stride[0], to.stride[1]};
}
head_numbers read_factor_gradient(view& to, signature const& is, DLTensor const* given,
                                  view const& like, reading const& how) {
  if (!given) return {};
  to = read_like(given, is, like, how);
  return {static_cast<float*>(to.data), to.size[0], to.stride[0]};
}

result_type check(tk_hedgehog_backward_problem const& given, bool data) {
  int const repeat = expect_one_of("repeat", given.repeat, repeat_names);
  expect_reserved(given.reserved2, "reserved2");
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;

  result_type result{};
  auto& [q, k, v, o, dout, normaliser, map_q, map_k, alpha, beta, initial_kv, initial_k, dfinal_kv,
         dfinal_k, dq, dk, dv, dmap_q, dmap_k, dalpha, dbeta, dinitial_kv, dinitial_k, starts,
         key_starts, lengths] = result.tensors;
  auto& x = result.problem;
  x.repeat = static_cast<repeat_kind>(repeat);
  read_inputs(x,
              {q, k, v, map_q, map_k, alpha, beta, initial_kv, initial_k, normaliser, starts,
               key_starts, lengths},
              inputs_of(given), true, how);
  o = read_like(given.o, o_is[packed], q, how);
  dout = read_like(given.dout, dout_is[packed], q, how);
  dq = read_like(given.dq, dq_is[packed], q, how);
  dk = read_like(given.dk, dk_is[packed], k, how);
  dv = read_like(given.dv, dv_is[packed], v, how);
  x.o = as_heads(o, packed);
  x.dout = as_heads(dout, packed);
  x.dq = as_heads(dq, packed);
  x.dk = as_heads(dk, packed);
  x.dv = as_heads(dv, packed);
  x.dmap_q = read_map_gradient(dmap_q, dmap_q_is, given.dmap_q, map_q, how);
  x.dmap_k = read_map_gradient(dmap_k, dmap_k_is, given.dmap_k, map_k, how);
  x.dalpha = read_factor_gradient(dalpha, dalpha_is, given.dalpha, alpha, how);
  x.dbeta = read_factor_gradient(dbeta, dbeta_is, given.dbeta, beta, how);
  read_states(x.dfinal_kv, dfinal_kv, x.dfinal_k, dfinal_k,
              {dfinal_kv_is, dfinal_k_is, given.dfinal_kv, given.dfinal_k}, x, q, v, how);
  read_states(x.dinitial_kv, dinitial_kv, x.dinitial_k, dinitial_k,
              {dinitial_kv_is, dinitial_k_is, given.dinitial_kv, given.dinitial_k}, x, q, v, how);

  for (auto const* output :
       {&dq, &dk, &dv, &dmap_q, &dmap_k, &dalpha, &dbeta, &dinitial_kv, &dinitial_k})
    if (output->is) expect_distinct_elements(*output);
  if (data)
    expect_outputs_apart(
        {&dq, &dk, &dv, &dmap_q, &dmap_k, &dalpha, &dbeta, &dinitial_kv, &dinitial_k},
        {&q, &k, &v, &o, &dout, &normaliser, &map_q, &map_k, &alpha, &beta, &initial_kv, &initial_k,
         &dfinal_kv, &dfinal_k, &starts, &key_starts, &lengths},
        {});
  // Tokens may be there without a sequence; sums over none are 0.
  bool const sums = given.dmap_q || given.dmap_k || given.dalpha || given.dbeta,
             states = given.dinitial_kv && x.starts.b > 0,
             tokens = (x.q.n > 0 || x.k.n > 0) && x.starts.b > 0;
  result.empty = x.q.h == 0 || !(sums || states || tokens);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(hedgehog_backward, repeat, check)
