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
    if (steps || !splits(x)) return;
    auto const states = static_cast<std::size_t>(keys.blocks(hedgehog_segment * hedgehog_block)) *
                        static_cast<std::size_t>(keys.h) * hedgehog_width * sizeof(float);
    kv = workspace.add(states * hedgehog_width);
    k = workspace.add(states);
  }

  // Long sequences are cut into segments where that keeps more multiprocessors busy: k and v are
  // then read twice. Where states may lie in place and several tasks read one head's, segments keep
  // what is read.
  bool splits(hedgehog_problem const& x) const {
    constexpr std::int64_t cost = 7, of = 4;
    if (sizes.parts > 1 && x.initial_k.given && x.final_k.given) return true;
    constexpr std::int64_t length = hedgehog_segment * hedgehog_block;
    if (x.repeat == repeat_kind::row || keys.n <= length) return false;
    std::int64_t const units = be::rt::multiprocessors(), tasks = keys.h * sizes.parts,
                       segments = keys.blocks(length);
    auto const rounds = [&](std::int64_t n) { return (n + units - 1) / units; };
    return rounds(keys.b * tasks) * keys.n * of > rounds(segments * tasks) * length * cost;
  }

  workspace_layout workspace;
  scan_rows keys;
  hedgehog_run_sizes sizes;
  // One query of each sequence, and few keys, of which none goes to its state; or those of some
  // sequences, which are added then.
  bool steps, adds;
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
