// SPDX-License-Identifier: MIT
// The checks of tk_mamba2_backward: those of the forward, and gradients like what they are of.
#include "ops/api/entry.hpp"
#include "ops/mamba2/checks.hpp"
#include "ops/mamba2/mamba2_backward.h"

namespace tk::api {
namespace {

constexpr auto dy_is = heads_are("dy", "n", "total", "h", "p"),
               dx_is = heads_are("dx", "n", "total", "h", "p"),
               dz_is = heads_are("dz", "n", "total", "h", "p"),
               dB_is = heads_are("dB", "n", "total", "g", "s"),
               dC_is = heads_are("dC", "n", "total", "g", "s");
constexpr signatures ddt_is{{{"ddt", halves | fp32_only, 3, 3, {"b", "n", "h"}, true},
                             {"ddt", halves | fp32_only, 2, 2, {"total", "h"}, true}}};
constexpr signature dA_is{"dA", fp32_only, 1, 1, {"h"}, true},
    dbias_is{"ddt_bias", fp32_only, 1, 1, {"h"}, true},
    dD_of_heads_is{"dD", fp32_only, 1, 1, {"h"}, true},
    dD_is{"dD", fp32_only, 2, 2, {"h", "p"}, true};
constexpr signature dfinal_is = state_of_heads("dfinal_state"),
                    dinitial_is = state_of_heads("dinitial_state");

constexpr std::size_t tensors = 21;

checked<mamba2_backward_problem, tensors> check(tk_mamba2_backward_problem const& given,
                                                bool data) {
  reading const how{data, be::rt::current_device()};
  bool const packed = given.starts != nullptr;
  checked<mamba2_backward_problem, tensors> result{};
  auto& [x, dt, A, B, C, D, z, dt_bias, dy, dx, ddt, dA, dB, dC, dD, dz, dbias, initial, dfinal,
         dinitial, starts] = result.tensors;
  auto& problem = result.problem;
  read_mamba2_inputs({x, dt, A, B, C, D, z, dt_bias, initial, starts}, problem, given, how);
  dy = read_like(given.dy, dy_is[packed], x, how);
  dx = read_like(given.dx, dx_is[packed], x, how);
  ddt = read_like(given.ddt, ddt_is[packed], dt, how);
  dA = read_like(given.dA, dA_is, A, how);
  dB = read_like(given.dB, dB_is[packed], B, how);
  dC = read_like(given.dC, dC_is[packed], C, how);
  auto const read_optional = [&](view& to, DLTensor const* tensor, signature const& is,
                                 view const& of) {
    if (!tensor) return;
    if (!of.is) refuse(status::null_pointer, is.name + 1, " is NULL, but ", is.name, " is given");
    to = read_like(tensor, is, of, how);
  };
  read_optional(dD, given.dD, D.is && D.is->rank == 2 ? dD_is : dD_of_heads_is, D);
  read_optional(dz, given.dz, dz_is[packed], z);
  read_optional(dbias, given.ddt_bias, dbias_is, dt_bias);
  auto const state = [&](view& to, signature const& is, DLTensor const* tensor) {
    return read_state(to, is, tensor, problem.starts.b, x, B, packed, how);
  };
  problem.dfinal = state(dfinal, dfinal_is, given.dfinal_state);
  problem.dinitial = state(dinitial, dinitial_is, given.dinitial_state);

  view const* const outputs[] = {&dx, &ddt, &dA, &dB, &dC, &dD, &dz, &dbias, &dinitial};
  for (auto const* output : outputs)
    if (output->is) expect_distinct_elements(*output);
  if (data) {
    for (auto const* output : outputs) {
      for (auto const* input :
           {&x, &dt, &A, &B, &C, &D, &z, &dt_bias, &dy, &initial, &dfinal, &starts})
        expect_apart(*output, *input);
      for (auto const* other : outputs)
        if (other > output) expect_apart(*output, *other);
    }
  }
  problem.dy = as_heads(dy, packed);
  problem.dx = as_heads(dx, packed);
  problem.ddt = as_steps(ddt, packed);
  problem.dA = as_head_vector(dA);
  problem.dB = as_heads(dB, packed);
  problem.dC = as_heads(dC, packed);
  if (given.dD) problem.dD = as_head_vector(dD);
  if (given.dz) problem.dz = as_heads(dz, packed);
  if (given.ddt_bias) problem.ddt_bias = as_head_vector(dbias);
  result.empty = problem.x.h == 0;  // dA is written without tokens, too
  return result;
}

}  // namespace
}  // namespace tk::api

TK_ENTRY(mamba2_backward, repeat, check)
