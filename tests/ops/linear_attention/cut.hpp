// SPDX-License-Identifier: MIT
// Whether the segments of a case's sequences are tasks of their own.
#pragma once
#include "tests/ops/linear_attention/part.hpp"

namespace tk::test {

// The workspace of what does not decay holds states of segments, and nothing else.
template <class Operands> bool is_cut(scan_case c) {
  c.decay = decays::none;
  return workspace_of(Operands(c)) > 0;
}

}  // namespace tk::test
