// SPDX-License-Identifier: MIT
// linear attention backward, three scans of the forward's kind:
//   dq  of (dout, v, k), whose states are those of the forward, transposed
//   dk  of (v, dout, q), reversed; its states are their gradients, transposed
//   dv  of (k, q, dout), reversed; its states are their gradients, D
// In the last two, states are kept divided by scale, which multiplies what they give.
#include <algorithm>

#include "ops/linear_attention/scan.hpp"

namespace tk {
namespace {

struct laid_out {
  explicit laid_out(linear_attention_backward_problem const& x)
      : of(x.q, std::max(x.q.d, x.v.d), x.decays, x.starts) {
    of.lay_out_decays(workspace);
    states = of.lay_out_states(workspace, std::max(x.q.d, x.v.d));  // one scan's after another's
  }
  workspace_layout workspace;
  scans of;
  std::size_t states;
};

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
    y.initial_transposed = transposed;
    y.scale = x.scale;
    y.initial_scale = y.final_scale = 1;
    return y;
  };
  auto const run = [&](scan_problem const& y) {
    plan.of.launch(y, plan.states, workspace, stream);
  };
  run(scan(x.dout, x.v, x.k, x.dq, x.initial, true));
  auto dk = scan(x.v, x.dout, x.q, x.dk, x.dfinal, true);
  dk.reversed = true;
  dk.initial_scale = 1 / x.scale;
  run(dk);
  auto dv = scan(x.k, x.q, x.dout, x.dv, x.dfinal, false);
  dv.reversed = true;
  dv.initial_scale = 1 / x.scale;
  dv.final = x.dinitial;
  dv.final_scale = x.scale;
  run(dv);
}

}  // namespace tk
