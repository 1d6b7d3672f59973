// SPDX-License-Identifier: MIT
// What stands in for linear attention's scans in the fuzzer where another op launches them: its own
// check, by the op's number.
#pragma once
#include <map>

#include "ops/linear_attention/plan.hpp"

namespace fuzz {

using scan_check = void (*)(tk::scan_problem const& x, void* stream);
inline std::map<int, scan_check> scan_of_others;

}  // namespace fuzz
