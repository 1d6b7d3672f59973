// SPDX-License-Identifier: MIT
// Chooses the compiled instance of gemm that a problem asks for.
#include <cstdint>
#include <limits>
#include <string>

#include "core/element.hpp"
#include "core/status.hpp"
#include "ops/gemm/plan.hpp"

namespace tk {

template <class T, bool TransposeA, bool TransposeB> struct gemm_run {
  static void launch(gemm_problem const& x, gemm_plan const& plan, void* workspace, void* stream);
};
template <class T> struct repack_run {
  static void launch(matrix const& dst, matrix const& src, void* stream);
};

namespace {

// Tiles are counted in 31 bits. Those of the largest size, which the plan can always fall back on,
// are at least as large as the ones counted here.
void check_size(gemm_problem const& x) {
  constexpr std::int64_t most = std::numeric_limits<int>::max() - 1024, tile = 64;
  constexpr auto largest = be::tune_gemm(0);
  static_assert(largest.down * largest.M >= tile && largest.across * largest.N >= tile);
  auto const of_one = ((x.m + tile - 1) / tile) * ((x.n + tile - 1) / tile);
  if (of_one > most / x.batch)
    throw error(status::unsupported,
                "d has " + std::to_string(x.batch) + " times " + std::to_string(of_one) +
                    " tiles of 64 x 64 elements; all must be at most " + std::to_string(most));
}

template <class T>
void choose(gemm_problem const& x, gemm_plan const& plan, void* workspace, void* stream) {
  if (x.transpose_a) {
    if (x.transpose_b) gemm_run<T, true, true>::launch(x, plan, workspace, stream);
    else gemm_run<T, true, false>::launch(x, plan, workspace, stream);
  } else {
    if (x.transpose_b) gemm_run<T, false, true>::launch(x, plan, workspace, stream);
    else gemm_run<T, false, false>::launch(x, plan, workspace, stream);
  }
}

}  // namespace

void launch(gemm_problem const& given, void* workspace, void* stream) {
  check_size(given);
  gemm_problem x = given;
  auto const plan = plan_gemm(given);
  auto const copy = [&](matrix& m, matrix to) {
    if (!to.data) return;
    to.data = in_workspace<char>(workspace, reinterpret_cast<std::uintptr_t>(to.data));
    repack_run<bf16>::launch(to, m, stream);
    m = to;
  };
  copy(x.a, plan.a);
  copy(x.b, plan.b);
  if (x.a.type == element::bf16) choose<bf16>(x, plan, workspace, stream);
  else choose<fp16>(x, plan, workspace, stream);
}

std::size_t workspace_bytes(gemm_problem const& x) {
  check_size(x);
  return plan_gemm(x).workspace_bytes;
}

}  // namespace tk
