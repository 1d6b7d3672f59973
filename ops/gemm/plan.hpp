// SPDX-License-Identifier: MIT
// How a gemm is spread over the chip: which tiles, whether some of them are cut along k, and which
// operands are copied first because the chip would load them slowly as they lie. Known before the
// launch, since sums of pieces (one tile of fp32 for each split, block of a cluster and worker) and
// copies are in the workspace. Where data lie is not asked: they are not known to
// the query.
#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>

#include "backends/runtime.hpp"
#include "core/schedule.hpp"
#include "ops/gemm/problem.hpp"
#include "ops/gemm/tuning.hpp"

namespace tk {

struct gemm_plan {
  int size, cluster;  // of tune_gemm
  even_splits cut;
  matrix a, b;           // the copies, `data` an offset into the workspace; null if none is made
  std::size_t partials;  // offset of the sums of pieces
  std::size_t workspace_bytes;
};

// Rows of a copy begin at multiples of 128 bytes.
inline std::int64_t copied_row(matrix const& x) {
  constexpr std::int64_t line = 64;
  return (x.cols + line - 1) / line * line;
}

// A copy takes 8 GiB at most: an operand whose elements lie on each other may have more of them
// than memory holds, and one that fills half of the memory leaves no room.
inline bool can_copy(matrix const& x) {
  constexpr std::int64_t most = std::int64_t{1} << 32;  // elements
  return x.rows * copied_row(x) <= most / x.batch;
}

// A copy of x in the workspace.
inline matrix place_copy(matrix x, workspace_layout& layout) {
  constexpr std::int64_t size = 2;
  x.row_stride = copied_row(x);
  x.batch_stride = x.batch > 1 ? x.rows * x.row_stride : 0;
  auto const bytes = static_cast<std::size_t>(x.batch * x.rows * x.row_stride * size);
  x.data = reinterpret_cast<void*>(layout.add(bytes));
  return x;
}

// Tiles of one size, and how long they take: forever, where an int cannot count them. That of the
// largest size it always can (ops/gemm/gemm.cpp).
struct gemm_tiling {
  gemm_plan plan;
  std::int64_t cost;
};
inline gemm_tiling tile_gemm(gemm_problem const& x, int size) {
  constexpr int worth_a_cluster = 128;  // steps of one tile
  constexpr std::int64_t most_tiles = std::numeric_limits<int>::max() - 1024;
  auto const tune = be::tune_gemm(size);
  auto const down = [&](int cluster) {
    return std::int64_t{ceil_div(static_cast<int>(x.m), cluster * tune.down * tune.M)};
  };
  auto const count = [&](int cluster) {  // of tiles, as clusters have them
    return down(cluster) * ceil_div(static_cast<int>(x.n), tune.across * tune.N) * x.batch;
  };
  int const blocks = be::rt::multiprocessors(), teams = blocks / tune.cluster;
  int const steps = ceil_div(static_cast<int>(x.k), tune.K);
  bool const fills = 8 * tune.cluster * down(tune.cluster) <= 9 * down(1);
  bool const pays = count(tune.cluster) >= teams || steps >= worth_a_cluster;
  gemm_plan plan{};
  plan.size = size;
  plan.cluster = teams > 0 && fills && pays ? tune.cluster : 1;
  auto const tiles = count(plan.cluster);
  if (tiles > most_tiles) return {plan, std::numeric_limits<std::int64_t>::max()};
  int const at_once = blocks / plan.cluster;
  if (x.repeat == repeat_kind::run && blocks * tune.workers() * sizeof(unsigned) <= counter_bytes)
    plan.cut = split_evenly(static_cast<int>(tiles), steps, at_once, be::gemm_partial_cost);
  return {plan,
          tune.step_cost * steps_of_launch(tiles, steps, at_once, plan.cut, be::gemm_partial_cost)};
}

inline gemm_plan plan_gemm(gemm_problem const& x) {
  constexpr std::int64_t worth_copying = 1 << 20;  // multiplications
  constexpr std::int64_t enough_rows = 1536;       // use b often enough to pay for some loss
  auto const cost = [](matrix const& m) {
    if (!can_copy(m)) return load_cost::none;
    auto const rows = m.rows > 1 ? be::gemm_load_cost(2 * m.row_stride) : load_cost::none;
    return std::max(rows, m.batch > 1 ? be::gemm_load_cost(2 * m.batch_stride) : load_cost::none);
  };
  // Where rows must not depend on their number, tiles are not cut, and sizes of tiles whose
  // products come in another order are not taken.
  int const sizes = x.repeat == repeat_kind::run || be::gemm_sizes_alike ? be::gemm_sizes : 1;
  auto best = tile_gemm(x, 0);
  for (int size = 1; size < sizes; ++size)
    if (auto const other = tile_gemm(x, size); other.cost < best.cost) best = other;
  gemm_plan plan = best.plan;
  auto const tune = be::tune_gemm(plan.size);
  workspace_layout layout;
  plan.partials = layout.add(std::size_t{sizeof(float)} * plan.cut.splits * plan.cluster *
                             tune.workers() * tune.M * tune.N);
  if (x.m * x.n >= worth_copying / (x.k > 0 ? x.k : 1) && x.k > 0) {
    if (cost(x.a) == load_cost::high) plan.a = place_copy(x.a, layout);
    if (cost(x.b) == load_cost::high || (cost(x.b) == load_cost::some && x.m >= enough_rows))
      plan.b = place_copy(x.b, layout);
  }
  plan.workspace_bytes = layout.bytes();
  return plan;
}

}  // namespace tk
