// SPDX-License-Identifier: MIT
// From a checked problem to its scan.
#include "core/element.hpp"
#include "ops/based/scan.hpp"
#include "ops/linear_attention/rows.hpp"

namespace tk {

template <class T, bool Normalises> struct based_run {
  static based_sizes sizes();
  static void launch(based_scan_problem const& x, void* stream);
};
template <class T> struct based_step_run {
  static void launch(based_scan_problem const& x, bool normalises, void* stream);
};

namespace {

template <class Body> auto with_instance(based_problem const& x, Body const& body) {
  auto const of_type = [&](auto type) {
    using T = decltype(type);
    return x.normalises ? body(based_run<T, true>{}) : body(based_run<T, false>{});
  };
  return x.q.type == element::bf16 ? of_type(bf16{}) : of_type(fp16{});
}

}  // namespace

based_scans::based_scans(workspace_layout& workspace, based_problem const& x)
    : rows_(rows_of(x.q, x.starts)),
      steps_(x.repeat == repeat_kind::run && rows_.n == 1 && !rows_.is_packed) {
  if (steps_) return;
  based_sizes const sizes = with_instance(x, [](auto run) { return run.sizes(); });
  int const length = sizes.C * sizes.segment, units = sizes.units(x.v.d);
  auto const heads = [&](int count) {
    return static_cast<std::size_t>(std::int64_t{count} * rows_.h);
  };
  each_ = segments_of_walk(rows_, length, sizes.tasks(rows_.h, x.v.d), sizes.sum_cost);
  if (each_ > 0) {
    std::size_t const count = heads(rows_.blocks(length)) * static_cast<std::size_t>(units);
    states_ = workspace.add(count * static_cast<std::size_t>(sizes.state_size()) * sizeof(float));
    if (x.normalises) sums_ = workspace.add(count * based_moments::columns * sizeof(float));
  } else if (x.initial_sums.given && x.final_sums.given && units > 1) {
    copied_sums_ = workspace.add(heads(rows_.b) * based_moments::count * sizeof(float));
  }
}

void based_scans::launch(based_problem const& x, float* normalisers, void* workspace,
                         void* stream) const {
  auto const at = [&](std::size_t offset) {
    return offset > 0 ? in_workspace<float>(workspace, offset) : nullptr;
  };
  based_scan_problem y{};
  y.q = x.q, y.k = x.k, y.v = x.v, y.o = x.o;
  y.rows = rows_;
  y.initial = x.initial, y.final = x.final;
  y.initial_sums = x.initial_sums, y.final_sums = x.final_sums;
  y.normalisers = normalisers;
  y.scale = x.scale;
  y.states = at(states_), y.sums = at(sums_), y.copied_sums = at(copied_sums_);
  y.each = each_;
  if (!steps_) with_instance(x, [&](auto run) { run.launch(y, stream); });
  else if (x.q.type == element::bf16) based_step_run<bf16>::launch(y, x.normalises, stream);
  else based_step_run<fp16>::launch(y, x.normalises, stream);
}

std::size_t workspace_bytes(based_problem const& x) {
  workspace_layout workspace;
  based_scans const plan(workspace, x);
  return workspace.bytes();
}

void launch(based_problem const& x, void* workspace, void* stream) {
  workspace_layout layout;
  based_scans const plan(layout, x);
  plan.launch(x, nullptr, workspace, stream);
}

}  // namespace tk
