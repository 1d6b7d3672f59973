// SPDX-License-Identifier: MIT
// From a checked problem to its scan.
#include "ops/linear_attention/scan.hpp"

namespace tk {
namespace {

struct laid_out {
  explicit laid_out(linear_attention_problem const& x) : of(x.q, x.q.d, x.decays, x.starts) {
    of.lay_out_decays(workspace);
    states = of.lay_out_states(workspace, {{x.q.d, x.v.d}});
  }
  workspace_layout workspace;
  scans<linear_scans> of;
  std::size_t states;
};

}  // namespace

std::size_t workspace_bytes(linear_attention_problem const& x) {
  return laid_out(x).workspace.bytes();
}

void launch(linear_attention_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  plan.of.sum_decays(workspace, stream);
  scan_problem scan{};
  scan.q = x.q;
  scan.k = x.k;
  scan.v = x.v;
  scan.o = x.o;
  scan.initial = x.initial;
  scan.final = x.final;
  scan.scale = x.scale;
  scan.initial_scale = scan.final_scale = 1;
  scan.may_step = x.repeat == repeat_kind::run;
  plan.of.launch(scan, plan.states, workspace, stream);
}

}  // namespace tk
