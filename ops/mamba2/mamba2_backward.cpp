// SPDX-License-Identifier: MIT
// mamba2 backward: with z the scan of the forward, for what the gate was given, and then
//   dC  of (dout, x, B) with weights; its states are the forward's
//   dB  of (x, dout, C), reversed; its states are their gradients G
//   u   of (B, C, dout), reversed, of which dx is made; its states are G transposed
// of each head. The first two leave what C and B meet, for the gradients of steps.
#include <algorithm>

#include "core/element.hpp"
#include "ops/mamba2/layout.hpp"

namespace tk {

template <class T> struct mamba2_backward_run {
  static void launch(gate_backward_problem const& x, void* stream);
  static void launch(step_gradients_problem const& x, void* stream);
  static void launch(group_sums_problem const& x, void* stream);
};

namespace {

template <class Problem> void launch_as(element type, Problem const& x, void* stream) {
  if (type == element::bf16) mamba2_backward_run<bf16>::launch(x, stream);
  else mamba2_backward_run<fp16>::launch(x, stream);
}

struct laid_out : mamba2_layout {
  explicit laid_out(mamba2_backward_problem const& x) : mamba2_layout(x, true) {
    states = of.lay_out_states(
        workspace, {{x.x.d, x.B.d, {1, 1, shares_of(x).q}, true}, {x.B.d, x.x.d, shares_of(x)}});
    meetings.lay_out(workspace, of, x.x.d, x.B.d);
    auto const chunks = static_cast<std::size_t>(of.chunks());
    auto const size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    std::size_t const h = size(x.x.h), all = size(x.x.b * x.x.n) * h;
    dB = workspace.add(all * size(x.B.d) * 2);
    dC = workspace.add(all * size(x.B.d) * 2);
    if (x.z.d > 0) {
      y = workspace.add(all * size(x.x.d) * 2);
      dout = workspace.add(all * size(x.x.d) * 2);
    }
    stride = (h + 3) / 4 * 4;
    D_stride = h * size(x.x.d);
    of_A = workspace.add(chunks * stride * sizeof(float));
    if (x.ddt_bias.given) of_bias = workspace.add(chunks * stride * sizeof(float));
    if (x.dD.given)
      of_D = workspace.add(chunks * (x.dD.of_columns ? D_stride : stride) * sizeof(float));
  }
  float* sums(void* memory, std::size_t at) const {
    return at > 0 ? in_workspace<float>(memory, at) : nullptr;
  }

  meetings_layout meetings;
  std::size_t states, dB = 0, dC = 0, y = 0, dout = 0;
  std::size_t of_A = 0, of_bias = 0, of_D = 0, stride = 0, D_stride = 0;
};

// A tensor of each head in the workspace, of x's type and so many columns.
heads of_heads(heads const& x, std::int64_t columns, void* workspace, std::size_t at) {
  heads y{};
  y.data = at > 0 ? in_workspace<char>(workspace, at) : nullptr;
  y.type = x.type;
  y.b = x.b, y.n = x.n, y.h = x.h, y.d = columns;
  y.h_stride = columns;
  y.n_stride = x.h * columns;
  y.b_stride = x.n * y.n_stride;
  return y;
}

// dout, and dz.
heads pass_gate(laid_out const& plan, mamba2_backward_problem const& x, void* workspace,
                void* stream) {
  if (x.z.d == 0) return x.dy;
  auto forward = scan_of(plan, x, workspace);
  forward.o = of_heads(x.x, x.x.d, workspace, plan.y);
  plan.of.launch(forward, plan.states, workspace, stream);
  auto const dout = of_heads(x.x, x.x.d, workspace, plan.dout);
  launch_as(
      x.x.type,
      gate_backward_problem{x.dy, x.z, forward.o, dout, x.dz, plan.of.rows(), plan.of.chunk()},
      stream);
  return dout;
}

}  // namespace

std::size_t workspace_bytes(mamba2_backward_problem const& x) {
  return laid_out(x).workspace.bytes();
}

void launch(mamba2_backward_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  take_steps(plan, x, workspace, stream);
  auto const dout = pass_gate(plan, x, workspace, stream);
  auto const dB = of_heads(x.x, x.B.d, workspace, plan.dB),
             dC = of_heads(x.x, x.B.d, workspace, plan.dC);
  auto const shares = shares_of(x);
  auto const scan = [&](heads const& q, heads const& k, heads const& v, heads const& to,
                        head_shares const& shares, state_tensor const& initial) {
    scan_problem y{};
    y.q = q;
    y.k = k;
    y.v = v;
    y.o = to;
    y.shares = shares;
    y.initial = initial;
    y.scale = y.initial_scale = y.final_scale = 1;
    return y;
  };
  auto const run = [&](scan_problem const& y) {
    plan.of.launch(y, plan.states, workspace, stream);
  };
  auto const tables = plan.tables(workspace);
  auto of_C = scan(dout, x.x, x.B, dC, {1, 1, shares.q}, x.initial);
  of_C.weights = tables.weights;
  plan.meetings.ask(of_C, x.C, workspace);
  run(of_C);
  auto of_B = scan(x.x, dout, x.C, dB, {1, 1, shares.q}, x.dfinal);
  of_B.reversed = true;
  of_B.final = x.dinitial;
  plan.meetings.ask(of_B, x.B, workspace);
  run(of_B);
  auto of_x = scan(x.B, x.C, dout, x.dx, shares, x.dfinal);
  of_x.reversed = of_x.transposed = true;
  run(of_x);

  step_gradients_problem y{};
  y.x = x.x;
  y.dout = dout;
  y.dx = x.dx;
  y.met = plan.meetings.left(workspace, tables.decays);
  y.rows = plan.of.rows();
  y.tables = tables;
  y.A = x.A;
  y.ddt = x.ddt;
  y.dA = x.dA;
  y.dD = x.dD;
  y.ddt_bias = x.ddt_bias;
  y.of_A = plan.sums(workspace, plan.of_A);
  y.of_bias = plan.sums(workspace, plan.of_bias);
  y.of_D = plan.sums(workspace, plan.of_D);
  y.stride = static_cast<int>(plan.stride);
  y.D_stride = static_cast<int>(plan.D_stride);
  launch_as(x.x.type, y, stream);
  launch_as(x.x.type,
            group_sums_problem{dB, dC, x.dB, x.dC, tables.weights, tables.decays, plan.of.rows(),
                               plan.of.chunk()},
            stream);
}

}  // namespace tk
