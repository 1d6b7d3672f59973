// SPDX-License-Identifier: MIT
// The long convolution and its backward for the fuzzer: their fields, correct problems, and what is
// wrong with others.
#include <algorithm>

#include "ops/fft_conv/fft_conv.h"
#include "ops/fft_conv/fft_conv_backward.h"
#include "tests/fuzz/generate.hpp"
#include "tests/fuzz/oracle.hpp"
#include "tests/ops/fft_conv/fuzz_sizes.hpp"

namespace fuzz {
namespace {

using namespace fft_conv;

struct made {
  sizes sequences, filters;
  type of;
};
template <class Problem> made make_operands(generator& g) {
  bool const batched = g.flip();
  i64 const b = batched ? g.number(0, 3) : 1,
            h_k = g.number(0, 5) ? g.number(1, 3) : g.small_size(), h = h_k * g.number(0, 3),
            n = g.size();
  bool const circular = g.flip();
  i64 const nk = circular ? std::min(g.size(), n) : g.size();
  made const x{batched ? sizes{b, h, n} : sizes{h, n}, {h_k, nk}, g.half()};
  g.tensor("u", x.of, x.sequences);
  g.tensor("k", fp32, x.filters);
  for (auto const* name : {"pre", "post"})
    if (g.flip()) g.tensor(name, x.of, x.sequences);
    else g.leave_out(name);
  Problem p{};
  p.circular = circular;
  p.filter_is_ready = g.flip();
  put(p.repeat, g.flip());
  g.fields(p);
  return x;
}

void make_forward(generator& g) {
  auto const x = make_operands<tk_fft_conv_problem>(g);
  g.tensor("y", x.of, x.sequences);
}
void make_backward(generator& g) {
  auto const x = make_operands<tk_fft_conv_backward_problem>(g);
  g.tensor("dy", x.of, x.sequences);
  for (auto const* name : {"du", "dpre", "dpost"})
    if (g.flip()) g.tensor(name, x.of, x.sequences);
    else g.leave_out(name);
  if (g.flip()) g.tensor("dk", fp32, x.filters);
  else g.leave_out("dk");
}

void look_at_sequences(seen_call& call, char const* name, bool optional = true) {
  if (optional && !call.given(name)) return;
  call.read(name, {2, 3, takes_halves});
  auto const &t = seen(call, name), &u = seen(call, "u");
  same_type(call.by_query, t, u);
  for (int axis = 0; axis < 3; ++axis) same_size(call.by_query, t, axis, u, axis);
}

template <class Problem> void look_at_operands(seen_call& call) {
  auto& f = call.by_query;
  call.read("u", {2, 3, takes_halves});
  call.read("k", {2, 2, takes_fp32});
  look_at_sequences(call, "pre");
  look_at_sequences(call, "post");
  auto const &u = seen(call, "u"), &k = seen(call, "k");
  if (!u.shaped || !k.shaped) return;
  f.add(k.size[0] == 0 ? u.size[1] > 0 : u.size[1] % k.size[0] != 0, TK_BAD_SHAPE);
  f.add(call.problem<Problem>().circular == 1 && k.size[1] > u.size[2], TK_UNSUPPORTED);
}
// After all tensors: are there too many elements, where anything is written?
template <class Problem> void look_at_sizes(seen_call& call, bool sequences, bool filters) {
  auto const &u = seen(call, "u"), &k = seen(call, "k");
  if (!u.shaped || !k.shaped) return;
  bool const elements = u.size[0] > 0 && u.size[1] > 0 && u.size[2] > 0;
  call.empty = !(sequences && elements) && !(filters && k.size[0] > 0 && k.size[1] > 0);
  if (call.empty) return;
  constexpr wide most = ((wide(1) << 31) - 1) / 4;
  wide const n = u.size[2], nk = k.size[1], half = n > halves[0] ? halves[1] : halves[0];
  auto const pieces = [&](wide size) { return std::max(wide(1), (size + half - 1) / half); };
  wide const blocks = pieces(n), of_filter = pieces(std::min(n, nk));
  bool const circular = call.problem<Problem>().circular == 1;
  wide const windows = circular ? blocks + of_filter - 1 : blocks;
  call.by_query.add(
      n > 1 << 24 || nk > 1 << 30 ||
          windows * std::max<wide>(1, u.size[1]) * std::max<wide>(1, u.size[0]) > most ||
          pieces(nk) * std::max<wide>(1, k.size[0]) > most,
      TK_UNSUPPORTED);
}

void look_forward(seen_call& call) {
  look_at_operands<tk_fft_conv_problem>(call);
  look_at_sequences(call, "y", false);
  look_at_sizes<tk_fft_conv_problem>(call, true, false);
}
void look_backward(seen_call& call) {
  look_at_operands<tk_fft_conv_backward_problem>(call);
  look_at_sequences(call, "dy", false);
  for (auto const* name : {"du", "dpre", "dpost"}) look_at_sequences(call, name);
  if (call.given("dk")) {
    call.read("dk", {2, 2, takes_fp32});
    for (int axis = 0; axis < 2; ++axis)
      same_size(call.by_query, seen(call, "dk"), axis, seen(call, "k"), axis);
  }
  look_at_sizes<tk_fft_conv_backward_problem>(
      call, call.given("du") || call.given("dpre") || call.given("dpost"), call.given("dk"));
}

template <class Problem> std::vector<option_field> options_of() {
  using o = option_field;
  return {{offsetof(Problem, circular), o::choice, 2},
          {offsetof(Problem, filter_is_ready), o::choice, 2},
          {offsetof(Problem, repeat), o::choice, 2},
          {offsetof(Problem, reserved), o::reserved}};
}

}  // namespace

fuzzed_op const& fuzzed_fft_conv() {
  using problem = tk_fft_conv_problem;
  static fuzzed_op const op{TK_OP_FFT_CONV,
                            "tk_fft_conv",
                            call_untyped<problem, tk_fft_conv>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"u", offsetof(problem, u)},
                             {"k", offsetof(problem, k)},
                             {"y", offsetof(problem, y), true},
                             {"pre", offsetof(problem, pre)},
                             {"post", offsetof(problem, post)}},
                            options_of<problem>(),
                            make_forward,
                            look_forward};
  return op;
}
fuzzed_op const& fuzzed_fft_conv_backward() {
  using problem = tk_fft_conv_backward_problem;
  static fuzzed_op const op{TK_OP_FFT_CONV_BACKWARD,
                            "tk_fft_conv_backward",
                            call_untyped<problem, tk_fft_conv_backward>,
                            sizeof(problem),
                            offsetof(problem, repeat),
                            {{"u", offsetof(problem, u)},
                             {"k", offsetof(problem, k)},
                             {"dy", offsetof(problem, dy)},
                             {"pre", offsetof(problem, pre)},
                             {"post", offsetof(problem, post)},
                             {"du", offsetof(problem, du), true},
                             {"dk", offsetof(problem, dk), true},
                             {"dpre", offsetof(problem, dpre), true},
                             {"dpost", offsetof(problem, dpost), true}},
                            options_of<problem>(),
                            make_backward,
                            look_backward};
  return op;
}

}  // namespace fuzz
