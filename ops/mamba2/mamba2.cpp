// SPDX-License-Identifier: MIT
// From a checked problem to its scan: linear attention with q = C, k = B, v = dt' x.
#include "core/element.hpp"
#include "ops/mamba2/layout.hpp"

namespace tk {

template <class T> struct mamba2_steps_run {
  static void launch(steps_to_take const& x, void* stream);
};

void take_steps(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace,
                void* stream) {
  steps_to_take const y{x.dt,
                        x.A,
                        x.D,
                        x.dt_bias,
                        x.dt_min,
                        x.dt_max,
                        x.softplus,
                        plan.tables(workspace),
                        plan.of.rows(),
                        plan.of.chunk(),
                        static_cast<int>(x.x.d)};
  if (x.dt.type == element::fp32) mamba2_steps_run<float>::launch(y, stream);
  else if (x.dt.type == element::bf16) mamba2_steps_run<bf16>::launch(y, stream);
  else mamba2_steps_run<fp16>::launch(y, stream);
}

head_shares shares_of(mamba2_inputs_given const& x) {
  int const sharing = x.B.h > 0 ? static_cast<int>(x.x.h / x.B.h) : 1;
  return {sharing, sharing, 1};
}

scan_problem scan_of(mamba2_layout const& plan, mamba2_inputs_given const& x, void* workspace) {
  auto const tables = plan.tables(workspace);
  scan_problem y{};
  y.q = x.C;
  y.k = x.B;
  y.v = x.x;
  y.shares = shares_of(x);
  y.initial = x.initial;
  y.transposed = true;
  y.scale = y.initial_scale = y.final_scale = 1;
  y.weights = tables.weights;
  y.skip = tables.skip;
  if (plan.side.each > 0) {
    y.each = plan.side.each;
    y.side = {tables.factors, plan.kept > 0 ? in_workspace<float>(workspace, plan.kept) : nullptr,
              plan.side.each_sum};
  }
  return y;
}

namespace {

struct laid_out : mamba2_layout {
  explicit laid_out(mamba2_problem const& x)
      : mamba2_layout(
            x, x.repeat == repeat_kind::run ? mamba2_pass::forward : mamba2_pass::forward_by_row) {
    states = side.each > 0 ? sums : of.lay_out_states(workspace, {{x.B.d, x.x.d, shares_of(x)}});
  }
  std::size_t states;
};

}  // namespace

std::size_t workspace_bytes(mamba2_problem const& x) { return laid_out(x).workspace.bytes(); }

void launch(mamba2_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  take_steps(plan, x, workspace, stream);
  auto scan = scan_of(plan, x, workspace);
  scan.o = x.y;
  scan.gate = x.z;
  scan.final = x.final;
  scan.may_step = x.repeat == repeat_kind::run;
  plan.of.launch(scan, plan.states, workspace, stream);
}

}  // namespace tk
