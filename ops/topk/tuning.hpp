// SPDX-License-Identifier: MIT
// What topk lets a chip choose; tune_topk() is in backends/<chip>/tune/topk.hpp.
#pragma once
#include "backends/select.hpp"

namespace tk {

// `workers` of a block share a row. With `per_unit` above 0 blocks are small and many
// (core/block.hpp, direct_op), and have as many workers as a row needs. A lane reads `chunks` of 16
// bytes at once.
struct topk_tuning {
  int workers, per_unit, chunks;
};

}  // namespace tk

// A chip has the sizes of its family where it has none of its own.
#if __has_include(TK_CHIP(tune / topk.hpp))
#include TK_CHIP(tune / topk.hpp)
#else
#include TK_BACKEND(tune/topk.hpp)
#endif
