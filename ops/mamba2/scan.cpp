// SPDX-License-Identifier: MIT
// See ops/linear_attention/scan.hpp.
#include "ops/linear_attention/scans.hpp"

namespace tk {

template class scans<ssm_scans>;

}  // namespace tk
