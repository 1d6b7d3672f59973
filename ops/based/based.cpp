// SPDX-License-Identifier: MIT
// From a checked problem to its scan.
#include "core/element.hpp"
#include "ops/based/plan.hpp"
#include "ops/linear_attention/rows.hpp"

namespace tk {

template <class T, bool Normalises> struct based_run {
  static based_sizes sizes();
  static void launch(based_scan_problem const& x, void* stream);
};

namespace {

template <class Body> auto with_instance(based_problem const& x, Body const& body) {
  auto const of_type = [&](auto type) {
    using T = decltype(type);
    return x.normalises ? body(based_run<T, true>{}) : body(based_run<T, false>{});
  };
  return x.q.type == element::bf16 ? of_type(bf16{}) : of_type(fp16{});
}

// States of segments and their sums, where sequences are cut; else a copy of the initial sums, if
// others may be written to their place.
struct laid_out {
  explicit laid_out(based_problem const& x)
      : rows(rows_of(x.q, x.starts)),
        sizes(with_instance(x, [](auto run) { return run.sizes(); })) {
    int const length = sizes.C * sizes.segment, units = sizes.units(x.v.d);
    if (cutting_pays(rows, length, sizes.tasks(rows.h, x.v.d))) {
      auto const count =
          static_cast<std::size_t>(std::int64_t{rows.blocks(length)} * rows.h * units);
      states = workspace.add(count * static_cast<std::size_t>(sizes.state_size()) * sizeof(float));
      if (x.normalises) sums = workspace.add(count * based_moments::columns * sizeof(float));
    } else if (x.initial_sums.given && x.final_sums.given && units > 1) {
      auto const count = static_cast<std::size_t>(std::int64_t{rows.b} * rows.h);
      copied_sums = workspace.add(count * based_moments::count * sizeof(float));
    }
  }
  workspace_layout workspace;
  scan_rows rows;
  based_sizes sizes;
  std::size_t states = 0, sums = 0, copied_sums = 0;
};

}  // namespace

std::size_t workspace_bytes(based_problem const& x) { return laid_out(x).workspace.bytes(); }

void launch(based_problem const& x, void* workspace, void* stream) {
  laid_out const plan(x);
  auto const at = [&](std::size_t offset) {
    return offset > 0 ? in_workspace<float>(workspace, offset) : nullptr;
  };
  based_scan_problem const scan{x.q,           x.k,
                                x.v,           x.o,
                                plan.rows,     x.initial,
                                x.final,       x.initial_sums,
                                x.final_sums,  nullptr,
                                x.scale,       at(plan.states),
                                at(plan.sums), at(plan.copied_sums)};
  with_instance(x, [&](auto run) { run.launch(scan, stream); });
}

}  // namespace tk
