// SPDX-License-Identifier: MIT
// The checks of tk_attention_forward: q [b, nq, hq, d], k [b, nk, hk, d], v [b, nk, hk, dv],
// o [b, nq, hq, dv], lse [b, hq, nq]; hq a multiple of hk, d and dv multiples of 8 up to 256.
// Packed sequences lack b, and n counts the rows of all of them.
#include <algorithm>
#include <cmath>

#include "ops/api/entry.hpp"
#include "ops/attention/attention_forward.h"
#include "ops/attention/check_options.hpp"
#include "ops/attention/problem.hpp"

namespace tk::api {
namespace {

constexpr std::size_t operands = 5, tensors = operands + checked_options::most;

checked<attention_forward_problem, tensors> check(tk_attention_forward_problem const& given,
                                                  bool data) {
  int const mask = expect_one_of("mask", given.mask, mask_names);
  expect_one_of("repeat", given.repeat, repeat_names);  // rows are alike either way
  expect_reserved(given.reserved);
  if (!std::isfinite(given.scale)) {
    refuse(status::bad_value, "scale is ", given.scale, "; it must be finite");
  }
  auto const options = read_options(given.options);
  reading const how{data, be::rt::current_device()};
  bool const packed = is_packed(options);
  int const n = packed ? 0 : 1;

  checked<attention_forward_problem, tensors> result{};
  auto &q = result.tensors[0], &k = result.tensors[1], &v = result.tensors[2],
       &o = result.tensors[3], &lse = result.tensors[4];
  q = read(given.q, q_is[packed], how);
  k = read(given.k, k_is[packed], how);
  v = read(given.v, v_is[packed], how);
  o = read(given.o, o_is[packed], how);
  expect_shapes(q, k, v, o, n);
  expect_distinct_elements(o);
  if (given.lse) {
    lse = read(given.lse, lse_is[packed], how);
    expect_lse(lse, q, n);
    expect_distinct_elements(lse);
  }
  result.problem = {.q = as_heads(q, packed),
                    .k = as_heads(k, packed),
                    .v = as_heads(v, packed),
                    .o = as_heads(o, packed),
                    .lse = static_cast<float*>(lse.data),
                    .lse_b_stride = packed ? 0 : lse.stride[0],
                    .lse_h_stride = lse.stride[n],
                    .mask = mask_kind::none,
                    .scale = given.scale,
                    .terms = {}};
  auto& problem = result.problem;
  auto const more = check_options(options, static_cast<mask_kind>(mask), problem.q, problem.k, how);
  problem.mask = more.mask;
  problem.terms = more.terms;
  std::copy(more.tensors.begin(), more.tensors.end(), result.tensors.begin() + operands);
  if (data) {
    for (auto const& input : result.tensors) {
      if (&input == &o || &input == &lse) continue;
      expect_apart(o, input);
      expect_apart(lse, input);
    }
    expect_apart(o, lse);
  }
  result.empty = more.terms.b == 0 || problem.q.n == 0 || problem.q.h == 0;
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(attention_forward, repeat, check)
