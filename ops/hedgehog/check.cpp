// SPDX-License-Identifier: MIT
// The checks of tk_hedgehog: q, o [b, nq, h, 128], k, v [b, nk, h, 128], of packed sequences
// without b; maps [h, 128, 64]; factors [h]; states [b, h, 128, 128] and [b, h, 128], of each
// sequence.
#include "ops/api/entry.hpp"
#include "ops/hedgehog/checks.hpp"
#include "ops/hedgehog/hedgehog.h"

namespace tk::api {
namespace {

constexpr auto o_is = heads_are("o", "nq", "total_q", "h", "dv");
constexpr signature final_kv_is = state_is("final_kv", "d", "dv"), final_k_is = sums_are("final_k");

constexpr std::size_t tensors = 16;

checked<hedgehog_problem, tensors> check(tk_hedgehog_problem const& given, bool data) {
  int const repeat = expect_one_of("repeat", given.repeat, repeat_names);
  expect_reserved(given.reserved2, "reserved2");
  expect_reserved(given.reserved);
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;

  checked<hedgehog_problem, tensors> result{};
  auto& [q, k, v, o, map_q, map_k, alpha, beta, initial_kv, initial_k, final_kv, final_k, starts,
         key_starts, lengths, normaliser] = result.tensors;
  auto& problem = result.problem;
  problem.repeat = static_cast<repeat_kind>(repeat);
  read_inputs(problem,
              {q, k, v, map_q, map_k, alpha, beta, initial_kv, initial_k, normaliser, starts,
               key_starts, lengths},
              inputs_of(given), false, how);
  o = read_like(given.o, o_is[packed], q, how);
  problem.o = as_heads(o, packed);
  read_states(problem.final_kv, final_kv, problem.final_k, final_k,
              {final_kv_is, final_k_is, given.final_kv, given.final_k}, problem, q, v, how);

  for (auto const* output : {&o, &final_kv, &final_k, &normaliser})
    if (output->is) expect_distinct_elements(*output);
  if (data)
    expect_outputs_apart({&o, &final_kv, &final_k, &normaliser},
                         {&q, &k, &v, &map_q, &map_k, &alpha, &beta, &initial_kv, &initial_k,
                          &starts, &key_starts, &lengths},
                         {{&final_kv, &initial_kv}, {&final_k, &initial_k}});
  bool const states = given.final_kv != nullptr;
  // Tokens may be there without a sequence.
  result.empty = problem.q.h == 0 || problem.starts.b == 0 || (problem.q.n == 0 && !states);
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(hedgehog, repeat, check)
