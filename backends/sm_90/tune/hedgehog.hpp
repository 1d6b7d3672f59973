// SPDX-License-Identifier: MIT
// 227 KB of shared memory: tiles 112 KB, the state, both maps and the features of both readers 32
// KB each. On an H200 (2026-11-27, b 16, h 16, n 4096) the walk takes 450 us where two weighers
// beside two adders took 598; two keepers with half of the state and one who weighs take 507;
// readers that take v ahead of the next block's k and q 508, since its products then wait for their
// operands.
#pragma once
#include "ops/hedgehog/tuning.hpp"

namespace tk::be {

constexpr hedgehog_tuning tune_hedgehog() {
  return {.workers = 1, .P = 128, .slots = 7, .resident = true, .readers = 2};
}

constexpr hedgehog_backward_tuning tune_hedgehog_backward() {
  return {.workers = 2, .slots = 6, .resident = true, .window_blocks = 2, .window_slots = 4};
}

}  // namespace tk::be
