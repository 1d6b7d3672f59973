// SPDX-License-Identifier: MIT
// The checks of tk_hedgehog: q, o [b, nq, h, 128], k, v [b, nk, h, 128], of packed sequences
// without b; maps [h, 128, 64]; factors [h]; states [b, h, 128, 128] and [b, h, 128], of each
// sequence.
#include "ops/api/entry.hpp"
#include "ops/hedgehog/hedgehog.h"
#include "ops/hedgehog/plan.hpp"
#include "ops/linear_attention/checks.hpp"

namespace tk::api {
namespace {

constexpr auto q_is = heads_are("q", "nq", "total_q", "h", "d"),
               k_is = heads_are("k", "nk", "total_k", "h", "d"),
               v_is = heads_are("v", "nk", "total_k", "h", "dv"),
               o_is = heads_are("o", "nq", "total_q", "h", "dv");
constexpr signature map_q_is{"map_q", halves, 3, 3, {"h", "d", "features"}},
    map_k_is{"map_k", halves, 3, 3, {"h", "d", "features"}},
    alpha_is{"alpha", fp32_only, 1, 1, {"h"}, true}, beta_is{"beta", fp32_only, 1, 1, {"h"}, true},
    initial_kv_is = state_is("initial_kv", "d", "dv"),
    final_kv_is = state_is("final_kv", "d", "dv"),
    initial_k_is{"initial_k", fp32_only, 3, 3, {"b", "h", "d"}},
    final_k_is{"final_k", fp32_only, 3, 3, {"b", "h", "d"}},
    key_starts_is{"key_starts", only(element::int32), 1, 1, {"b + 1"}},
    lengths_is{"lengths", only(element::int32), 1, 1, {"b"}};
constexpr signatures normaliser_is{{{"normaliser", fp32_only, 3, 3, {"b", "h", "nq"}},
                                    {"normaliser", fp32_only, 2, 2, {"h", "total_q"}}}};

constexpr std::size_t tensors = 16;

void expect_width(view const& x, int axis, std::int64_t width) {
  if (x.size[axis] != width)
    refuse(status::unsupported, x.is->name, " has ", x.is->axes[axis], " = ", x.size[axis],
           "; it must be ", width);
}
feature_map read_map(view& to, signature const& is, DLTensor const* given, view const& q,
                     int heads_axis, reading const& how) {
  to = read(given, is, how);
  expect_same_type(to, q);
  expect_same_size(to, 0, q, heads_axis);
  expect_same_size(to, 1, q, heads_axis + 1);
  expect_width(to, 2, hedgehog_features);
  return {{to.data, to.type}, to.size[0], to.stride[0], to.stride[1]};
}
head_numbers read_factors(view& to, signature const& is, DLTensor const* given, view const& q,
                          int heads_axis, reading const& how) {
  to = read(given, is, how);
  expect_same_size(to, 0, q, heads_axis);
  return {static_cast<float const*>(to.data), to.size[0], to.stride[0]};
}
sum_tensor read_sums(view& to, signature const& is, DLTensor const* given, std::int64_t sequences,
                     view const& q, int heads_axis, reading const& how) {
  if (!given) return {};
  to = read(given, is, how);
  if (to.size[0] != sequences)
    refuse(status::bad_shape, is.name, " has b = ", to.size[0], "; it must be ", sequences);
  expect_same_size(to, 1, q, heads_axis);
  expect_same_size(to, 2, q, heads_axis + 1);
  return {static_cast<float*>(to.data), true, sequences, to.size[1], to.stride[0], to.stride[1]};
}
void expect_both(char const* name, DLTensor const* x, char const* other, DLTensor const* y) {
  if (x && !y) refuse(status::null_pointer, other, " is NULL, but ", name, " is given");
  if (y && !x) refuse(status::null_pointer, name, " is NULL, but ", other, " is given");
}

void check_tokens(checked<hedgehog_problem, tensors>& result, tk_hedgehog_problem const& given,
                  bool packed, reading const& how) {
  auto& [q, k, v, o, map_q, map_k, alpha, beta, initial_kv, initial_k, final_kv, final_k, starts,
         key_starts, lengths, normaliser] = result.tensors;
  auto& problem = result.problem;
  int const n = packed ? 0 : 1;
  q = read(given.q, q_is[packed], how);
  k = read(given.k, k_is[packed], how);
  v = read(given.v, v_is[packed], how);
  for (auto const* other : {&k, &v}) {
    expect_same_type(*other, q);
    if (!packed) expect_same_size(*other, 0, q, 0);
    expect_same_size(*other, n + 1, q, n + 1);
    expect_same_size(*other, n + 2, q, n + 2);
  }
  expect_same_size(v, n, k, n);
  expect_width(q, n + 2, hedgehog_width);
  o = read_like(given.o, o_is[packed], q, how);
  problem.q = as_heads(q, packed);
  problem.k = as_heads(k, packed);
  problem.v = as_heads(v, packed);
  problem.o = as_heads(o, packed);
  problem.map_q = read_map(map_q, map_q_is, given.map_q, q, n + 1, how);
  problem.map_k = read_map(map_k, map_k_is, given.map_k, q, n + 1, how);
  problem.alpha = read_factors(alpha, alpha_is, given.alpha, q, n + 1, how);
  problem.beta = read_factors(beta, beta_is, given.beta, q, n + 1, how);
}

query_numbers read_normaliser(view& to, DLTensor const* given, view const& q, bool packed,
                              reading const& how) {
  if (!given) return {};
  int const n = packed ? 0 : 1;
  to = read(given, normaliser_is[packed], how);
  if (!packed) expect_same_size(to, 0, q, 0);
  expect_same_size(to, n, q, n + 1);
  expect_same_size(to, n + 1, q, n);
  return {static_cast<float*>(to.data), packed ? 0 : to.stride[0], to.stride[n]};
}

void check_sequences(checked<hedgehog_problem, tensors>& result, tk_hedgehog_problem const& given,
                     reading const& how) {
  auto& [q, k, v, o, map_q, map_k, alpha, beta, initial_kv, initial_k, final_kv, final_k, starts,
         key_starts, lengths, normaliser] = result.tensors;
  auto& problem = result.problem;
  problem.starts = problem.key_starts = read_starts(starts, given.starts, q, how);
  if (given.key_starts) {
    if (!given.starts) refuse(status::null_pointer, "starts is NULL, but key_starts is given");
    key_starts = read(given.key_starts, key_starts_is, how);
    expect_same_size(key_starts, 0, starts, 0);
    problem.key_starts.data = static_cast<std::int32_t const*>(key_starts.data);
  }
  if (given.lengths) {
    if (given.starts)
      refuse(status::bad_value, "lengths and starts are both given; one must be NULL");
    lengths = read(given.lengths, lengths_is, how);
    expect_same_size(lengths, 0, q, 0);
    problem.lengths.data = static_cast<std::int32_t const*>(lengths.data);
  }
}

void check_states(checked<hedgehog_problem, tensors>& result, tk_hedgehog_problem const& given,
                  bool packed, reading const& how) {
  auto& [q, k, v, o, map_q, map_k, alpha, beta, initial_kv, initial_k, final_kv, final_k, starts,
         key_starts, lengths, normaliser] = result.tensors;
  auto& problem = result.problem;
  expect_both("initial_kv", given.initial_kv, "initial_k", given.initial_k);
  expect_both("final_kv", given.final_kv, "final_k", given.final_k);
  int const heads_axis = packed ? 1 : 2;
  std::int64_t const b = problem.starts.b;
  problem.initial_kv =
      read_state(initial_kv, initial_kv_is, given.initial_kv, b, q, v, packed, how);
  problem.final_kv = read_state(final_kv, final_kv_is, given.final_kv, b, q, v, packed, how);
  problem.initial_k = read_sums(initial_k, initial_k_is, given.initial_k, b, q, heads_axis, how);
  problem.final_k = read_sums(final_k, final_k_is, given.final_k, b, q, heads_axis, how);
}

checked<hedgehog_problem, tensors> check(tk_hedgehog_problem const& given, bool data) {
  int const repeat = expect_one_of("repeat", given.repeat, repeat_names);
  expect_reserved(given.reserved2, "reserved2");
  expect_reserved(given.reserved);
  if (!(given.scale >= 0x1p-64f && given.scale <= 0x1p64f))
    refuse(status::bad_value, "scale is ", given.scale, "; it must be from 2^-64 to 2^64");
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;

  checked<hedgehog_problem, tensors> result{};
  auto& problem = result.problem;
  problem.scale = given.scale;
  problem.repeat = static_cast<repeat_kind>(repeat);
  check_tokens(result, given, packed, how);
  check_sequences(result, given, how);
  check_states(result, given, packed, how);
  problem.normaliser =
      read_normaliser(result.tensors.back(), given.normaliser, result.tensors.front(), packed, how);

  auto& [q, k, v, o, map_q, map_k, alpha, beta, initial_kv, initial_k, final_kv, final_k, starts,
         key_starts, lengths, normaliser] = result.tensors;
  view const* const outputs[] = {&o, &final_kv, &final_k, &normaliser};
  for (auto const* output : outputs)
    if (output->is) expect_distinct_elements(*output);
  if (data) {
    for (auto const* output : outputs) {
      for (auto const* input : {&q, &k, &v, &map_q, &map_k, &alpha, &beta, &initial_kv, &initial_k,
                                &starts, &key_starts, &lengths}) {
        bool const in_place = (output == &final_kv && input == &initial_kv) ||
                              (output == &final_k && input == &initial_k);
        if (!(in_place && is_same(*output, *input))) expect_apart(*output, *input);
      }
      for (auto const* other : outputs)
        if (other > output) expect_apart(*output, *other);
    }
  }
  bool const states = given.final_kv != nullptr;
  // Tokens may be there without a sequence.
  result.empty = problem.q.h == 0 || problem.starts.b == 0 || (problem.q.n == 0 && !states);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(hedgehog, repeat, check)
