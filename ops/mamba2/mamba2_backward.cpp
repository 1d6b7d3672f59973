// SPDX-License-Identifier: MIT
// mamba2 backward: with z the scan of the forward, for what the gate was given. Then two scans
// leave of each chunk and head the state that it meets, S, and the gradient of the one that it
// leaves, G:
//   S  of (B, x) with weights, from the initial state on
//   G  of (C, dout), reversed, from the final state's gradient on; it ends with dinitial
// of which chunk_gradients.hpp makes dx, dB and dC, and what step_gradients.hpp makes the rest of.
#include "core/element.hpp"
#include "ops/mamba2/layout.hpp"

namespace tk {

template <class T> struct mamba2_gate_run {
  static void launch(gate_backward_problem const& x, void* stream);
};
template <class T, int D> struct mamba2_gradients_run {
  static void launch(chunk_gradients_problem const& x, void* stream);
};
template <class T> struct mamba2_step_gradients_run {
  static void launch(step_gradients_problem const& x, void* stream);
};

namespace {

template <class T> void launch_gradients(chunk_gradients_problem const& x, void* stream) {
  if (x.B.d <= 64) mamba2_gradients_run<T, 64>::launch(x, stream);
  else if (x.B.d <= 128) mamba2_gradients_run<T, 128>::launch(x, stream);
  else mamba2_gradients_run<T, 256>::launch(x, stream);
}

struct laid_out : mamba2_layout {
  explicit laid_out(mamba2_backward_problem const& x)
      : mamba2_layout(x, mamba2_pass::backward), sizes(of.sizes_of(x.B.d)) {
    segments = of.lay_out_states(workspace, {{x.B.d, x.x.d, shares_of(x)}});
    auto const size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    std::size_t const chunks = size(of.chunks()), h = size(x.x.h), p = size(x.x.d),
                      D = size(sizes.D), C = size(sizes.C);
    auto const lay_out = [&](std::size_t count) { return workspace.add(count * sizeof(float)); };
    for (auto& at : states) at = workspace.add(chunks * h * D * p * 2);
    for (auto& at : of_tokens) at = lay_out(chunks * h * C);
    met = lay_out(chunks * h * rows_of_met_states);
    if (int const slices = slices_of_group(shares_of(x).q); slices > 1)
      groups = lay_out(chunks * size(x.B.h) * size(slices) * 2 * C * D);
    if (x.z.d > 0) {
      y = workspace.add(size(x.x.b * x.x.n) * h * p * 2);
      dout = workspace.add(size(x.x.b * x.x.n) * h * p * 2);
    }
    stride = (h + 3) / 4 * 4;
    of_A = lay_out(chunks * stride);
    if (x.ddt_bias.given) of_bias = lay_out(chunks * stride);
    if (!x.dD.given) return;
    if (!x.dD.of_columns) skipped = lay_out(chunks * h * C);
    of_D = lay_out(chunks * (x.dD.of_columns ? h * p : stride));
  }
  float* floats(void* memory, std::size_t at) const {
    return at > 0 ? in_workspace<float>(memory, at) : nullptr;
  }
  left_of_chunks left(mamba2_backward_problem const& x, void* memory) const {
    auto const at = [&](std::size_t offset) { return floats(memory, offset); };
    return {
        at(of_tokens[0]), at(of_tokens[1]), at(of_tokens[2]), at(of_tokens[3]),
        at(of_tokens[4]), at(skipped),      at(met),          x.dD.of_columns ? at(of_D) : nullptr};
  }
  // Of each chunk, head after head.
  heads chunk_states(mamba2_backward_problem const& x, void* memory, int which) const {
    heads y{};
    y.data = in_workspace<char>(memory, states[which]);
    y.type = x.x.type;
    y.b = of.chunks(), y.n = sizes.D, y.h = x.x.h, y.d = x.x.d;
    y.n_stride = y.d;
    y.h_stride = y.n * y.n_stride;
    y.b_stride = y.h * y.h_stride;
    return y;
  }

  scan_sizes sizes;
  std::size_t segments, states[2] = {}, of_tokens[5] = {}, met = 0, groups = 0, y = 0, dout = 0;
  std::size_t stride = 0, of_A = 0, of_bias = 0, of_D = 0, skipped = 0;
};

// A tensor like x in the workspace.
heads like(heads const& x, void* workspace, std::size_t at) {
  heads y{};
  y.data = in_workspace<char>(workspace, at);
  y.type = x.type;
  y.b = x.b, y.n = x.n, y.h = x.h, y.d = x.d;
  y.h_stride = x.d;
  y.n_stride = x.h * y.h_stride;
  y.b_stride = x.n * y.n_stride;
  return y;
}

// dout, and dz.
heads pass_gate(laid_out const& plan, mamba2_backward_problem const& x, void* workspace,
                void* stream) {
  if (x.z.d == 0) return x.dy;
  auto forward = scan_of(plan, x, workspace);
  forward.o = like(x.x, workspace, plan.y);
  plan.of.launch(forward, plan.segments, workspace, stream);
  auto const dout = like(x.x, workspace, plan.dout);
  gate_backward_problem const y{x.dy, x.z, forward.o, dout, x.dz, plan.of.rows(), plan.of.chunk()};
  if (x.x.type == element::bf16) mamba2_gate_run<bf16>::launch(y, stream);
  else mamba2_gate_run<fp16>::launch(y, stream);
  return dout;
}

// S and G.
void leave_states(laid_out const& plan, mamba2_backward_problem const& x, heads const& dout,
                  void* workspace, void* stream) {
  auto const run = [&](scan_problem const& y) {
    plan.of.launch(y, plan.segments, workspace, stream);
  };
  auto forward = scan_of(plan, x, workspace);
  forward.skip = nullptr;
  forward.chunk_states = plan.chunk_states(x, workspace, 0);
  run(forward);
  auto backward = forward;
  backward.k = x.C;
  backward.v = dout;
  backward.weights = nullptr;
  backward.initial = x.dfinal;
  backward.final = x.dinitial;
  backward.reversed = true;
  backward.chunk_states = plan.chunk_states(x, workspace, 1);
  run(backward);
}

}  // namespace

std::size_t workspace_bytes(mamba2_backward_problem const& x) {
  return laid_out(x).workspace.bytes();
}

void launch(mamba2_backward_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  take_steps(plan, x, workspace, stream);
  auto const dout = pass_gate(plan, x, workspace, stream);
  leave_states(plan, x, dout, workspace, stream);
  auto const tables = plan.tables(workspace);
  auto const left = plan.left(x, workspace);
  chunk_gradients_problem const of_chunks{x.B,
                                          x.C,
                                          x.x,
                                          dout,
                                          x.dB,
                                          x.dC,
                                          x.dx,
                                          plan.chunk_states(x, workspace, 0),
                                          plan.chunk_states(x, workspace, 1),
                                          tables,
                                          left,
                                          plan.floats(workspace, plan.groups),
                                          plan.of.rows()};
  if (x.x.type == element::bf16) launch_gradients<bf16>(of_chunks, stream);
  else launch_gradients<fp16>(of_chunks, stream);
  step_gradients_problem of_steps{};
  of_steps.left = left;
  of_steps.rows = plan.of.rows();
  of_steps.C = plan.sizes.C, of_steps.p = static_cast<int>(x.x.d);
  of_steps.tables = tables;
  of_steps.A = x.A;
  of_steps.ddt = x.ddt;
  of_steps.dA = x.dA;
  of_steps.dD = x.dD;
  of_steps.ddt_bias = x.ddt_bias;
  of_steps.of_A = plan.floats(workspace, plan.of_A);
  of_steps.of_bias = plan.floats(workspace, plan.of_bias);
  of_steps.of_D = x.dD.of_columns ? nullptr : plan.floats(workspace, plan.of_D);
  of_steps.stride = static_cast<int>(plan.stride);
  mamba2_step_gradients_run<float>::launch(of_steps, stream);
}

}  // namespace tk
