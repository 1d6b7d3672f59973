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
    if (!splits(x)) return;
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
  with_type(x.q.type, [&](auto run) { run.launch(y, stream); });
}

}  // namespace tk
