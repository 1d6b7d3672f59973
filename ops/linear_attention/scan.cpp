// SPDX-License-Identifier: MIT
// See scan.hpp.
#include "ops/linear_attention/scans.hpp"

namespace tk {

template class scans<linear_scans>;

}  // namespace tk
