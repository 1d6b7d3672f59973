// SPDX-License-Identifier: MIT
// The checks of tk_based: q, k [b, n, h, 16], v, o [b, n, h, dv], of packed sequences without b;
// states [b, h, 153, dv] and their sums [b, h, 153], one of each sequence.
#include "ops/api/entry.hpp"
#include "ops/based/based.h"
#include "ops/based/checks.hpp"

namespace tk::api {
namespace {

constexpr auto q_is = heads_are("q", "n", "total", "h", "d"),
               k_is = heads_are("k", "n", "total", "h", "d"),
               v_is = heads_are("v", "n", "total", "h", "dv"),
               o_is = heads_are("o", "n", "total", "h", "dv");
constexpr signature initial_is = moments_are("initial_state"),
                    final_is = moments_are("final_state"),
                    initial_sums_are = sums_are("initial_sums"),
                    final_sums_are = sums_are("final_sums");

checked<based_problem, 9> check(tk_based_problem const& given, bool data) {
  int const repeat = expect_one_of("repeat", given.repeat, repeat_names);
  expect_one_of("normalise", given.normalise, flag_names);
  expect_reserved(given.reserved);
  expect_based_scale(given.scale);
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;

  checked<based_problem, 9> result{};
  auto& [q, k, v, o, initial, final, initial_sums, final_sums, starts] = result.tensors;
  auto& problem = result.problem;
  q = read(given.q, q_is[packed], how);
  k = read(given.k, k_is[packed], how);
  v = read(given.v, v_is[packed], how);
  expect_width(q, packed);
  expect_token_shapes({q, k, v}, packed);
  o = read_like(given.o, o_is[packed], v, how);
  problem.starts = read_starts(starts, given.starts, q, how);
  problem.normalises = given.normalise != 0;
  auto const state = [&](view& to, signature const& is, DLTensor const* tensor) {
    return read_moment_state(to, is, tensor, problem.starts.b, v, packed, how);
  };
  auto const sums = [&](view& to, signature const& is, DLTensor const* tensor) {
    return read_moment_sums(to, is, tensor, problem.normalises, problem.starts.b, v, packed, how);
  };
  problem.initial = state(initial, initial_is, given.initial_state);
  problem.final = state(final, final_is, given.final_state);
  problem.initial_sums = sums(initial_sums, initial_sums_are, given.initial_sums);
  problem.final_sums = sums(final_sums, final_sums_are, given.final_sums);

  view const* const outputs[] = {&o, &final, &final_sums};
  for (auto const* output : outputs)
    if (output->is) expect_distinct_elements(*output);
  if (data) {
    for (auto const* output : outputs) {
      for (auto const* input : {&q, &k, &v, &initial, &initial_sums, &starts}) {
        bool const in_place = (input == &initial && output == &final) ||
                              (input == &initial_sums && output == &final_sums);
        if (!in_place || !is_same(*output, *input)) expect_apart(*output, *input);
      }
      for (auto const* other : outputs)
        if (other > output) expect_apart(*output, *other);
    }
  }
  problem.q = as_heads(q, packed);
  problem.k = as_heads(k, packed);
  problem.v = as_heads(v, packed);
  problem.o = as_heads(o, packed);
  problem.scale = given.scale;
  problem.repeat = static_cast<repeat_kind>(repeat);
  bool const states = given.final_state || given.final_sums;
  // Tokens may be there without a sequence.
  result.empty = problem.q.h == 0 || problem.starts.b == 0 || (problem.q.n == 0 && !states);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(based, repeat, check)
