// SPDX-License-Identifier: MIT
// From a checked problem to the launches of the backward.
#include "core/element.hpp"
#include "ops/hedgehog/scan.hpp"
#include "ops/linear_attention/scans.hpp"

namespace tk {
namespace {

struct laid_out {
  explicit laid_out(hedgehog_backward_problem const& x) : keys(rows_of(x.k, x.key_starts)) {
    rows_of(x.q, x.starts);  // refuses too many
    auto const size = [](std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(float); };
    std::int64_t const h = x.q.h, queries = x.q.b * x.q.n * h, of_keys = x.k.b * x.k.n * h;
    for (auto* at : {&inverse, &delta, &top, &edge}) *at = workspace.add(size(queries));
    // Room for two parts; where a block has both, one is left.
    du_q = workspace.add(size(2 * queries * hedgehog_features));
    du_k = workspace.add(size(2 * of_keys * hedgehog_features));
    linear_dv = workspace.add(size(2 * of_keys * hedgehog_width));
    alpha_sums = workspace.add(size(2 * x.starts.b * h));
    beta_sums = workspace.add(size(std::int64_t{keys.blocks(hedgehog_block)} * h));
    dmaps = workspace.add(size(std::int64_t{keys.blocks(hedgehog_block * hedgehog_segment)} * h *
                               hedgehog_width * hedgehog_features));
  }
  workspace_layout workspace;
  scan_rows keys;
  std::size_t inverse, delta, top, edge, du_q, du_k, linear_dv, alpha_sums, beta_sums, dmaps;
};

}  // namespace

std::size_t workspace_bytes(hedgehog_backward_problem const& x) {
  return laid_out(x).workspace.bytes();
}

void launch(hedgehog_backward_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  auto const at = [&](std::size_t offset) {
    return offset > 0 ? in_workspace<float>(workspace, offset) : nullptr;
  };
  hedgehog_gradient_problem y{};
  y.of = x;
  y.rows = rows_of(x, plan.keys);
  y.inverse = at(plan.inverse), y.delta = at(plan.delta);
  y.top = at(plan.top), y.edge = at(plan.edge);
  y.du_q = at(plan.du_q), y.du_k = at(plan.du_k), y.linear_dv = at(plan.linear_dv);
  y.alpha_sums = at(plan.alpha_sums), y.beta_sums = at(plan.beta_sums);
  y.dmaps = at(plan.dmaps);
  if (x.q.type == element::bf16) hedgehog_backward_run<bf16>::launch(y, stream);
  else hedgehog_backward_run<fp16>::launch(y, stream);
}

}  // namespace tk
