// SPDX-License-Identifier: MIT
// attention_forward for the fuzzer: its fields, correct problems, and what is wrong with others.
#include <cmath>

#include "ops/attention/attention_forward.h"
#include "tests/ops/attention/fuzz_options.hpp"

namespace fuzz {
namespace {

using problem = tk_attention_forward_problem;
using options = tk_attention_options;

constexpr std::size_t of_options(std::size_t offset) { return sizeof(problem) + offset; }

void make(generator& g) {
  i64 const b = g.huge() ? g.size() : g.number(0, 3) ? g.number(1, 2) : g.small_size();
  i64 const hk = g.number(g.number(0, 7) == 0 ? 0 : 1, 3);
  i64 const hq = g.number(0, 7) ? hk * g.number(1, 3) : g.number(0, 5);
  i64 const nq = g.size(), nk = g.size();
  i64 const d = head_size(g), dv = g.flip() ? d : head_size(g);
  auto const of = g.half();
  bool const more = g.flip(), packed = more && g.number(0, 3) == 0;
  auto const operand = [&](char const* name, i64 n, i64 h, i64 width) {
    if (packed) g.tensor(name, of, {n, h, width});
    else g.tensor(name, of, {b, n, h, width});
  };
  operand("q", nq, hq, d);
  operand("k", nk, hk, d);
  operand("v", nk, hk, dv);
  operand("o", nq, hq, dv);
  if (!g.flip()) g.leave_out("lse");
  else if (packed) g.tensor("lse", fp32, {hq, nq});
  else g.tensor("lse", fp32, {b, hq, nq});
  problem p{};
  put(p.mask, g.flip());
  p.scale = static_cast<float>(g.number(-8, 8)) / 4;
  put(p.repeat, g.flip());
  g.fields(p);
  make_options(g, more, packed, of, {b, hq, nq, nk});
}

void look(seen_call& call) {
  auto const [q, k, v, o, lse, alibi, bias, sinks, q_starts, k_starts, state] = call.all<11>();
  auto& f = call.by_query;
  f.add(!std::isfinite(call.problem<problem>().scale), TK_BAD_VALUE);
  bool const packed = call.given("q_starts") || call.given("k_starts");
  int const rank = packed ? 3 : 4, n = packed ? 0 : 1;
  look_at_operands(call, packed);
  auto const axis = static_cast<std::size_t>(n);
  auto const hq = q.size[axis + 1];
  if (call.given("lse")) {
    call.read("lse", {rank - 1, rank - 1, takes_fp32});
    if (!packed) same_size(f, lse, 0, q, 0);
    same_size(f, lse, n, q, n + 1);
    same_size(f, lse, n + 1, q, n);
  }
  look_at_options(call, packed);
  i64 const b = packed ? q_starts.size[0] - 1 : q.size[0], nq = q.size[axis];
  bool const known = o.shaped && q.shaped && (!packed || q_starts.shaped);
  call.empty = known && (b == 0 || nq == 0 || hq == 0);
  if (!call.empty && known && k.shaped) {
    f.add(nq + k.size[axis] > largest_size, TK_UNSUPPORTED);
    auto const blocks = packed ? wide(nq / 16 + b) * hq : tiles(nq, 16) * hq * b;
    f.add(blocks > largest_size, TK_UNSUPPORTED);
  }
}

}  // namespace

fuzzed_op const& fuzzed_attention_forward() {
  using o = option_field;
  static fuzzed_op const op{TK_OP_ATTENTION_FORWARD,
                            "tk_attention_forward",
                            call_untyped<problem, tk_attention_forward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"q", offsetof(problem, q)},
                             {"k", offsetof(problem, k)},
                             {"v", offsetof(problem, v)},
                             {"o", offsetof(problem, o), true},
                             {"lse", offsetof(problem, lse), true},
                             {"alibi", of_options(offsetof(options, alibi))},
                             {"bias", of_options(offsetof(options, bias))},
                             {"sinks", of_options(offsetof(options, sinks))},
                             {"q_starts", of_options(offsetof(options, q_starts))},
                             {"k_starts", of_options(offsetof(options, k_starts))},
                             {"random_state", of_options(offsetof(options, random_state))}},
                            {{offsetof(problem, mask), o::choice, 2},
                             {offsetof(problem, scale), o::factor},
                             {offsetof(problem, repeat), o::choice, 2},
                             {offsetof(problem, reserved), o::reserved},
                             {of_options(offsetof(options, has_window_left)), o::choice, 2},
                             {of_options(offsetof(options, window_left)), o::number},
                             {of_options(offsetof(options, has_window_right)), o::choice, 2},
                             {of_options(offsetof(options, window_right)), o::number},
                             {of_options(offsetof(options, softcap)), o::factor},
                             {of_options(offsetof(options, dropout)), o::factor},
                             {of_options(offsetof(options, max_nq)), o::wide_number},
                             {of_options(offsetof(options, max_nk)), o::wide_number},
                             {of_options(offsetof(options, seed)), o::wide_number},
                             {of_options(offsetof(options, offset)), o::wide_number}},
                            make,
                            look,
                            offsetof(problem, options),
                            sizeof(options)};
  return op;
}

}  // namespace fuzz
