// SPDX-License-Identifier: MIT
// From a checked problem to its scan.
#include "core/element.hpp"
#include "ops/hedgehog/scan.hpp"
#include "ops/linear_attention/scans.hpp"

namespace tk {
namespace {

template <class Body> auto with_type(element type, Body const& body) {
  return type == element::bf16 ? body(hedgehog_run<bf16>{}) : body(hedgehog_run<fp16>{});
}

struct laid_out {
  explicit laid_out(hedgehog_problem const& x)
      : keys(rows_of(x.k, x.key_starts)),
        sizes(with_type(x.q.type, [](auto run) { return run.sizes(); })) {
    rows_of(x.q, x.starts);  // refuses too many
    constexpr int most = 2 * hedgehog_block;
    bool const may_add = keys.n == most && x.lengths.given;
    steps =
        x.repeat == repeat_kind::run && !keys.is_packed && x.q.n == 1 && (keys.n < most || may_add);
    adds = steps && may_add && x.final_kv.given;
    if (steps) return;
    each = segments_of_task(x);
    if (each == 0) return;
    auto const states = static_cast<std::size_t>(keys.blocks(hedgehog_segment * hedgehog_block)) *
                        static_cast<std::size_t>(keys.h) * hedgehog_width * sizeof(float);
    kv = workspace.add(states * hedgehog_width);
    k = workspace.add(states);
  }

  // 0 where sequences are not cut. Where states may lie in place and several tasks read one head's,
  // segments keep what is read, if only one of them.
  int segments_of_task(hedgehog_problem const& x) const {
    constexpr int length = hedgehog_segment * hedgehog_block;
    if (x.repeat != repeat_kind::row)
      if (int const pays = segments_of_walk(keys, length, keys.h * sizes.parts)) return pays;
    bool const keep = sizes.parts > 1 && x.initial_k.given && x.final_k.given;
    return keep ? keys.n / length + 1 : 0;
  }

  workspace_layout workspace;
  scan_rows keys;
  hedgehog_run_sizes sizes;
  // One query of each sequence, and few keys, of which none goes to its state; or those of some
  // sequences, which are added then.
  bool steps, adds;
  int each = 0;  // segments of a task, where sequences are cut
  std::size_t kv = 0, k = 0;
};

}  // namespace

std::size_t workspace_bytes(hedgehog_problem const& x) { return laid_out(x).workspace.bytes(); }

void launch(hedgehog_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  hedgehog_scan_problem y{};
  y.of = x;
  y.rows = rows_of(x, plan.keys);
  if (plan.kv > 0) {
    y.states = in_workspace<float>(workspace, plan.kv);
    y.sums = in_workspace<float>(workspace, plan.k);
    y.each = plan.each;
  }
  if (plan.steps) {
    if (x.q.type == element::bf16) hedgehog_step_run<bf16>::launch(y, stream);
    else hedgehog_step_run<fp16>::launch(y, stream);
    if (!plan.adds) return;
    y.adds_only = true;
    y.rows.nq = 0;
  }
  with_type(x.q.type, [&](auto run) { run.launch(y, stream); });
}

}  // namespace tk
