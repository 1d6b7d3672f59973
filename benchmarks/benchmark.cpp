// SPDX-License-Identifier: MIT
// What the suites share (benchmark.hpp).
#include "benchmarks/benchmark.hpp"

#include <algorithm>

#include "backends/runtime.hpp"
#include "core/status.hpp"

namespace tk::bench {

std::unique_ptr<benchmark> make_benchmark(bench_case const& x) {
  if (x.suite == "ceilings") return make_ceiling(x);
  if (x.suite == "norm") return make_norm(x);
  return x.suite == "gemm" ? make_gemm(x) : make_attention(x);
}

void check(tk_status code) {
  if (code != TK_OK)
    throw error(static_cast<status>(code),
                std::string(tk_status_name(code)) + ": " + tk_last_error());
}

tensor make_workspace(tk_op op, void const* problem) {
  std::size_t bytes = 0;
  check(tk_workspace(op, problem, &bytes));
  tensor space(dtype::fp32, {std::max<std::int64_t>(4, static_cast<std::int64_t>(bytes + 3) / 4)});
  be::rt::fill(space.data(), 0, static_cast<std::size_t>(space.bytes()));
  return space;
}

}  // namespace tk::bench
