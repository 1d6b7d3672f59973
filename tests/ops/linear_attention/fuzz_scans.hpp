// SPDX-License-Identifier: MIT
// What stands in for linear attention's scans in the fuzzer where another op launches them: its own
// check, by the op's number.
#pragma once
#include <map>
#include <type_traits>

#include "ops/linear_attention/plan.hpp"
#include "tests/ops/attention/fuzz_launch.hpp"

namespace fuzz {

using scan_check = void (*)(tk::scan_problem const& x, void* stream);
inline std::map<int, scan_check> scan_of_others;

// A step of decoding is launched as the scan of one chunk would be: scan(d) of the instance for so
// many columns.
template <class Problem, class Scan>
void check_step(tk::scan_problem const& x, bool same_chunks, Scan const& scan) {
  require(same_chunks && x.may_step && x.rows.n == 1 && !x.rows.is_packed &&
              running.seen->problem<Problem>().repeat == TK_REPEAT_RUN,
          "no step of decoding");
  if (x.q.d <= 64) scan(std::integral_constant<int, 64>{});
  else if (x.q.d <= 128) scan(std::integral_constant<int, 128>{});
  else scan(std::integral_constant<int, 256>{});
}

}  // namespace fuzz
