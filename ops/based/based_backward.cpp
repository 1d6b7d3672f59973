// SPDX-License-Identifier: MIT
// Based's backward: moments of q and k written out, phi and psi with a query's weights, and scans
// of linear attention, whose scale is 1:
//   dpsi  of (g, v, phi), whose states are those of the forward, transposed
//   dphi  of (v, g, psi), reversed; its states are their gradients, transposed
//   dv    of (phi, psi, g), reversed; its states are their gradients
// dq and dk are contracted from the first two. With the normaliser the forward runs before them, g
// is dout / z beside r, and v has a column of ones; where these are more columns than a scan takes
// of q and k, r and the ones have scans of their own, whose moments are added when contracted.
#include <algorithm>
#include <optional>

#include "core/element.hpp"
#include "ops/based/scan.hpp"
#include "ops/linear_attention/scan.hpp"

namespace tk {

template <class T> struct based_backward_run {
  static void launch(moments_to_expand const& x, void* stream);
  static void launch(moments_to_contract const& x, void* stream);
  static void launch(outputs_to_divide const& x, void* stream);
  static void launch(states_to_place const& x, void* stream);
};

namespace {

template <class Problem> void launch_as(element type, Problem const& x, void* stream) {
  if (type == element::bf16) based_backward_run<bf16>::launch(x, stream);
  else based_backward_run<fp16>::launch(x, stream);
}

// The forward again, for z and o; no step of decoding, which leaves no z.
based_problem forward_of(based_backward_problem const& x, heads const& o) {
  return {x.q, x.k,      x.v,     o,    x.initial,       {}, x.initial_sums,
          {},  x.starts, x.scale, true, repeat_kind::row};
}

// Columns behind those of v, of which one counts; and those that a scan takes of q and k.
constexpr int ones = 16, most_of_a_scan = 256;

struct laid_out {
  explicit laid_out(based_backward_problem const& x)
      : columns(static_cast<int>(x.v.d) + (x.normalises ? ones : 0)),
        parts(columns > most_of_a_scan ? 2 : 1),
        of(x.q, std::clamp(columns, based_moments::columns, most_of_a_scan), {}, x.starts) {
    if (x.normalises) forward.emplace(workspace, forward_of(x, x.dout));
    auto const widest = std::max<std::int64_t>(based_moments::columns, columns);
    states = of.lay_out_states(workspace, {{widest, widest}});
    auto const size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    std::size_t const all = size(x.q.b * x.q.n) * size(x.q.h);
    for (auto* const at : {&phi, &psi, &grad[0]})
      *at = workspace.add(all * based_moments::columns * 2);
    if (parts > 1) grad[1] = workspace.add(all * based_moments::columns * 2);
    if (x.normalises) {
      o = workspace.add(all * size(x.v.d) * 2);
      for (auto* const at : {&g, &wide_v}) *at = workspace.add(all * size(columns) * 2);
      normalisers = workspace.add(all * sizeof(float));
    }
    std::size_t const state =
        size(of.rows().b) * size(x.q.h) * based_moments::columns * size(columns) * sizeof(float);
    if (x.initial.given || x.initial_sums.given) initial = workspace.add(state);
    if (x.dfinal.given || x.dfinal_sums.given) dfinal = workspace.add(state);
    if (x.dinitial.given || x.dinitial_sums.given) dinitial = workspace.add(state);
  }

  workspace_layout workspace;
  int columns;  // of g
  int parts;    // of these columns, each with scans of its own: the second is the ones
  scans<linear_scans> of;
  std::optional<based_scans> forward;
  std::size_t states, phi, psi, grad[2] = {}, o = 0, g = 0, wide_v = 0, normalisers = 0,
                                initial = 0, dfinal = 0, dinitial = 0;
};

struct backward_call {
  laid_out const& plan;
  based_backward_problem const& x;
  void *workspace, *stream;

  // A tensor of each token and head in the workspace.
  heads tokens(std::size_t at, std::int64_t columns) const {
    heads y{};
    y.data = in_workspace<char>(workspace, at);
    y.type = x.q.type;
    y.b = x.q.b, y.n = x.q.n, y.h = x.q.h, y.d = columns;
    y.h_stride = columns;
    y.n_stride = x.q.h * columns;
    y.b_stride = x.q.n * y.n_stride;
    return y;
  }
  heads moments(std::size_t at) const { return tokens(at, based_moments::columns); }
  // Of x, of all columns of g, those of a part, where elements have so many bytes.
  template <class X> X part_of(X x, std::int64_t X::* columns, int part, std::size_t bytes) const {
    if (plan.parts == 1 || !x.data) return x;
    int const last = plan.columns - ones;
    if (part > 0) x.data = static_cast<char*>(x.data) + static_cast<std::size_t>(last) * bytes;
    x.*columns = part > 0 ? ones : last;
    return x;
  }
  heads part_of(heads const& x, int part) const { return part_of(x, &heads::d, part, 2); }
  state_tensor part_of(state_tensor const& x, int part) const {
    return part_of(x, &state_tensor::dv, part, sizeof(float));
  }
  state_tensor placed(std::size_t at) const {
    state_tensor y{};
    if (at == 0) return y;
    y.data = in_workspace<float>(workspace, at);
    y.type = element::fp32;
    y.given = true;
    y.b = plan.of.rows().b, y.h = x.q.h, y.d = based_moments::columns, y.dv = plan.columns;
    y.d_stride = y.dv;
    y.h_stride = y.d * y.d_stride;
    y.b_stride = y.h * y.h_stride;
    return y;
  }
  void place(std::size_t at, state_tensor const& state, moment_sums const& sums, bool back) const {
    if (at == 0) return;
    auto const& rows = plan.of.rows();
    launch_as(x.q.type,
              states_to_place{state, sums, in_workspace<float>(workspace, at), rows.b, rows.h,
                              static_cast<int>(x.v.d), plan.columns, back},
              stream);
  }
  void expand(heads const& from, std::size_t to, bool weighted) const {
    if (x.q.n > 0)
      launch_as(x.q.type, moments_to_expand{from, moments(to), plan.of.rows(), weighted, x.scale},
                stream);
  }
  // The moments' gradients that scans of q and k, g and v or these exchanged, leave.
  void scan_parts(heads const& q, heads const& k, heads const& v, state_tensor const& initial,
                  bool reversed) const {
    for (int i = 0; i < plan.parts; ++i)
      scan(part_of(q, i), part_of(k, i), v, moments(plan.grad[i]), part_of(initial, i), {}, true,
           reversed);
  }
  void contract(heads const& of, heads const& to, bool weighted) const {
    launch_as(x.q.type,
              moments_to_contract{of,
                                  {moments(plan.grad[0]), moments(plan.grad[plan.parts - 1])},
                                  plan.parts,
                                  to,
                                  plan.of.rows(),
                                  weighted,
                                  x.scale},
              stream);
  }
  void scan(heads const& q, heads const& k, heads const& v, heads const& to,
            state_tensor const& initial, state_tensor const& final, bool transposed,
            bool reversed) const {
    scan_problem y{};
    y.q = q, y.k = k, y.v = v, y.o = to;
    y.initial = initial, y.final = final;
    y.transposed = transposed, y.reversed = reversed;
    y.scale = y.initial_scale = y.final_scale = 1;
    plan.of.launch(y, plan.states, workspace, stream);
  }
};

}  // namespace

std::size_t workspace_bytes(based_backward_problem const& x) {
  return laid_out(x).workspace.bytes();
}

void launch(based_backward_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  backward_call const call{plan, x, workspace, stream};
  heads g = x.dout, v = x.v;
  if (x.normalises && x.q.n > 0) {
    auto const forward = forward_of(x, call.tokens(plan.o, x.v.d));
    auto* const normalisers = in_workspace<float>(workspace, plan.normalisers);
    plan.forward->launch(forward, normalisers, workspace, stream);
    g = call.tokens(plan.g, plan.columns), v = call.tokens(plan.wide_v, plan.columns);
    launch_as(x.q.type,
              outputs_to_divide{x.dout, forward.o, x.v, g, v, normalisers, plan.of.rows()}, stream);
  } else if (x.normalises) {
    g.d = v.d = plan.columns;  // no token has any
  }
  call.place(plan.initial, x.initial, x.initial_sums, false);
  call.place(plan.dfinal, x.dfinal, x.dfinal_sums, false);
  call.expand(x.k, plan.phi, false);
  call.expand(x.q, plan.psi, true);
  auto const phi = call.moments(plan.phi), psi = call.moments(plan.psi);
  auto const dfinal = call.placed(plan.dfinal);
  if (x.q.n > 0) {
    call.scan_parts(g, v, phi, call.placed(plan.initial), false);
    call.contract(x.q, x.dq, true);
    call.scan_parts(v, g, psi, dfinal, true);
    call.contract(x.k, x.dk, false);
  }
  call.scan(phi, psi, g, x.dv, dfinal, call.placed(plan.dinitial), false, true);
  call.place(plan.dinitial, x.dinitial, x.dinitial_sums, true);
}

}  // namespace tk
