// SPDX-License-Identifier: MIT
// norm for the fuzzer: its fields, correct problems, and what is wrong with others.
#include <cmath>

#include "ops/norm/norm.h"
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"

namespace fuzz {
namespace {

using problem = tk_norm_problem;

void make(generator& g) {
  i64 const rows = g.size(), width = g.size();
  auto const of = g.half_or_fp32(), scale = g.flip() ? of : fp32;
  auto const matrix = [&] { return rows == 1 && g.flip() ? sizes{width} : sizes{rows, width}; };
  auto const in_or_out = [&](char const* name, auto const& make) {
    if (g.flip()) make(name);
    else g.leave_out(name);
  };
  auto const of_scale = [&](char const* name) { g.tensor(name, scale, {width}); };
  auto const output = [&](char const* name) {
    if (g.number(0, 2)) g.tensor(name, of, matrix());
    else g.put_on(name, g.flip() && g.given("residual") ? "residual" : "x");
  };
  g.tensor("x", of, matrix());
  in_or_out("residual", [&](char const* name) { g.tensor(name, of, matrix()); });
  in_or_out("weight", of_scale);
  in_or_out("bias", of_scale);
  output("y");
  in_or_out("r", output);
  problem p{};
  put(p.kind, g.flip());
  p.eps = static_cast<float>(g.number(0, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
}

void look(seen_call& call) {
  constexpr std::int64_t longest = (std::int64_t(1) << 31) - 65537;
  auto const eps = call.problem<problem>().eps;
  auto const [x, residual, weight, bias, y, r] = call.all<6>();
  auto& f = call.by_query;
  f.add(!std::isfinite(eps) || eps < 0, TK_BAD_VALUE);
  for (auto const* name : {"x", "y", "residual", "r"}) {
    bool const optional = name[0] == 'r';
    if (optional && !call.given(name)) continue;
    call.read(name, {1, 2, takes_any});
    auto const& t = call.tensors[call.index(name)];
    same_type(f, t, x);
    same_size(f, t, 0, x, 0);
    same_size(f, t, 1, x, 1);
  }
  for (auto const* name : {"weight", "bias"}) {
    if (!call.given(name)) continue;
    call.read(name, {1, 1, takes_any});
    auto const& t = call.tensors[call.index(name)];
    if (t.bits != 32) same_type(f, t, x);
    same_size(f, t, 0, x, 1);
  }
  same_type(f, weight, bias);
  call.empty = x.shaped && x.empty();
  if (!call.empty && x.shaped) f.add(x.size[0] > longest || x.size[1] > longest, TK_UNSUPPORTED);
}

}  // namespace

fuzzed_op const& fuzzed_norm() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_NORM,
                            "tk_norm",
                            call_untyped<problem, tk_norm>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"x", offsetof(problem, x), false, {"y", "r"}},
                             {"residual", offsetof(problem, residual), false, {"y", "r"}},
                             {"weight", offsetof(problem, weight)},
                             {"bias", offsetof(problem, bias)},
                             {"y", offsetof(problem, y), true},
                             {"r", offsetof(problem, r), true}},
                            {{offsetof(problem, kind), o::choice, 2},
                             {offsetof(problem, eps), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved}},
                            make,
                            look};
  return op;
}

}  // namespace fuzz
