// SPDX-License-Identifier: MIT
// For 163 KB of shared memory, and for 99 KB, of which a worker has 80; not measured yet.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/based/tuning.hpp"

namespace tk::be {

constexpr based_tuning tune_based() {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  return {.workers = 1, .C = 64, .P = 64, .slots = roomy ? 4 : 1, .segment = 16};
}

}  // namespace tk::be
