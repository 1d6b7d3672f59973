// SPDX-License-Identifier: MIT
// For 163 KB of shared memory (`roomy`) and for 99 KB; not measured yet.
#pragma once
#include TK_CHIP(arch.hpp)
#include "ops/hedgehog/tuning.hpp"

namespace tk::be {

constexpr hedgehog_tuning tune_hedgehog() {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  return roomy ? hedgehog_tuning{.workers = 2, .P = 64, .slots = 3, .resident = true}
               : hedgehog_tuning{.workers = 1, .P = 64, .slots = 3, .resident = false};
}

constexpr hedgehog_backward_tuning tune_hedgehog_backward() {
  constexpr bool roomy = smem_bytes >= 163 * 1024;
  return roomy ? hedgehog_backward_tuning{.workers = 2, .slots = 4, .resident = true}
               : hedgehog_backward_tuning{.workers = 1, .slots = 2, .resident = true};
}

}  // namespace tk::be
