// SPDX-License-Identifier: MIT
// linear attention backward, three scans of the forward's kind:
//   dq  of (dout, v, k), whose states are those of the forward, transposed
//   dk  of (v, dout, q), reversed; its states are their gradients, transposed
//   dv  of (k, q, dout), reversed; its states are their gradients, D
// In the last two, states are kept divided by scale, which multiplies what they give. For the
// gradients of decays the first two leave what q and k meet (decay_gradient.hpp).
#include <algorithm>

#include "ops/linear_attention/scan.hpp"

namespace tk {

template <class T> struct decay_gradient_run {
  static void launch(decay_gradient_problem const& x, void* stream);
};

namespace {

struct laid_out {
  explicit laid_out(linear_attention_backward_problem const& x)
      : of(x.q, std::max(x.q.d, x.v.d), x.decays, x.starts) {
    of.lay_out_decays(workspace);
    auto const d = std::max(x.q.d, x.v.d);
    states = of.lay_out_states(workspace, {{d, d}, {d, d, {}, x.ddecays.given}});
    if (!x.ddecays.given) return;
    meetings.lay_out(workspace, of, x.v.d, x.q.d);
    totals_stride = (static_cast<std::size_t>(x.q.h) + 3) / 4 * 4;
    if (x.ddecays.of_heads)
      totals = workspace.add(static_cast<std::size_t>(of.chunks()) * totals_stride * sizeof(float));
  }

  workspace_layout workspace;
  scans<linear_scans> of;
  meetings_layout meetings;
  std::size_t states, totals = 0, totals_stride = 0;
};

void launch_decay_gradient(laid_out const& plan, linear_attention_backward_problem const& x,
                           void* workspace, void* stream) {
  decay_gradient_problem y{};
  y.met = plan.meetings.left(workspace, plan.of.decays(workspace));
  y.rows = plan.of.rows();
  y.scale = x.scale;
  y.to = x.ddecays;
  y.totals = plan.totals > 0 ? in_workspace<float>(workspace, plan.totals) : nullptr;
  y.stride = static_cast<int>(plan.totals_stride);
  decay_gradient_run<float>::launch(y, stream);
}

}  // namespace

std::size_t workspace_bytes(linear_attention_backward_problem const& x) {
  return laid_out(x).workspace.bytes();
}

void launch(linear_attention_backward_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  plan.of.sum_decays(workspace, stream);
  auto const scan = [&](heads const& q, heads const& k, heads const& v, heads const& to,
                        state_tensor const& initial, bool transposed) {
    scan_problem y{};
    y.q = q;
    y.k = k;
    y.v = v;
    y.o = to;
    y.initial = initial;
    y.transposed = transposed;
    y.scale = x.scale;
    y.initial_scale = y.final_scale = 1;
    return y;
  };
  auto const run = [&](scan_problem const& y) {
    plan.of.launch(y, plan.states, workspace, stream);
  };
  auto dq = scan(x.dout, x.v, x.k, x.dq, x.initial, true);
  if (x.ddecays.given) plan.meetings.ask(dq, x.q, workspace);
  run(dq);
  auto dk = scan(x.v, x.dout, x.q, x.dk, x.dfinal, true);
  dk.reversed = true;
  dk.initial_scale = 1 / x.scale;
  if (x.ddecays.given) plan.meetings.ask(dk, x.k, workspace);
  run(dk);
  auto dv = scan(x.k, x.q, x.dout, x.dv, x.dfinal, false);
  dv.reversed = true;
  dv.initial_scale = 1 / x.scale;
  dv.final = x.dinitial;
  dv.final_scale = x.scale;
  run(dv);
  if (x.ddecays.given) launch_decay_gradient(plan, x, workspace, stream);
}

}  // namespace tk
