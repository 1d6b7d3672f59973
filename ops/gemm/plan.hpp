// SPDX-License-Identifier: MIT
// How a gemm is spread over the chip: which tiles, and whether some of them are cut along k. Known
// before the launch, because sums of pieces wait in the workspace: counters first, then one tile of
// fp32 for each share and worker.
#pragma once
#include <cstddef>

#include "backends/runtime.hpp"
#include "core/schedule.hpp"
#include "ops/problem.hpp"

#include TK_BACKEND(tune.hpp)

namespace tk {

struct gemm_plan {
  bool large;
  even_shares cut;
  std::size_t workspace_bytes;
};

inline gemm_plan plan_gemm(gemm_problem const& x) {
  auto const count = [&](be::gemm_tuning const& t) {
    return std::int64_t{ceil_div(static_cast<int>(x.m), t.cluster * t.workers * t.M)} *
           ceil_div(static_cast<int>(x.n), t.N) * x.batch;
  };
  int const blocks = be::rt::multiprocessors();
  bool const large = be::gemm_prefers_large(count(be::tune_gemm(true)), blocks);
  auto const tune = be::tune_gemm(large);
  gemm_plan plan{large, {}, 0};
  if (tune.cluster > 1 || blocks * tune.workers * sizeof(unsigned) > counter_bytes) return plan;
  plan.cut = share_evenly(static_cast<int>(count(tune)), ceil_div(static_cast<int>(x.k), tune.K),
                          blocks, be::gemm_parking_cost);
  if (plan.cut.tiles > 0)
    plan.workspace_bytes = counter_bytes + std::size_t{sizeof(float)} * plan.cut.shares *
                                               tune.workers * tune.M * tune.N;
  return plan;
}

}  // namespace tk
